// What `npm run check` knows of the packages in bench/package.json, because it must pass without them. `tsc -p bench`, which CI
// runs, leaves this file out and checks against the packages' own types.
declare module 'vega' {
  export function parse(spec: object): object
  export function resetSVGDefIds(): void
  export class View {
    constructor(runtime: object, options: { renderer: 'none' })
    toSVG(): Promise<string>
  }
}

declare module 'vega-lite' {
  export type TopLevelSpec = object
  export function compile(spec: TopLevelSpec, options: { config: object }): { spec: object }
}

declare module '@redis/client' {
  export function createClient(options: object): {
    on(event: 'error', listener: () => void): void
    connect(): Promise<unknown>
    incr(key: string): Promise<number>
    keys(pattern: string): Promise<string[]>
    mGet(keys: string[]): Promise<(string | null)[]>
    [name: string]: (...values: never[]) => unknown
  }
}
