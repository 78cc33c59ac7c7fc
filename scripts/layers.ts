/** A line of the table. */
export interface Layer {
  /** Folders and files, separated by spaces. They do not import each other. A file belongs to the longest path that matches. */
  rooms: string
  /** Packages that no other line with rooms of src/ may import. */
  packages?: string
  /** The only other rooms that these import, separated by spaces. */
  only?: string
}

/** Which folder may import which: each imports only itself and lines below it. `npm run check` enforces it. */
export const LAYERS: readonly Layer[] = [
  { rooms: 'test' },
  { rooms: '.ci bench' },
  // What is built from the Worker: commands, the files that browsers load, the page /docs, the OpenAPI document.
  { rooms: 'scripts' },
  { rooms: 'scripts/assets' },
  { rooms: 'scripts/reference' },
  { rooms: 'scripts/openapi' },
  { rooms: 'cli/slotted-counter.ts' },
  { rooms: 'local' },
  { rooms: 'cli' },
  { rooms: 'src/browser', only: 'src/views/english.ts src/visible-key.ts' },
  // This repository's Worker, the counter as a library, and the ways into it: HTTP, calls, a queue, cron triggers.
  { rooms: 'src/index.ts' },
  { rooms: 'src/slotted-counter.ts', packages: 'hono' },
  { rooms: 'src/app.ts src/background.ts', packages: 'hono' },
  { rooms: 'src/routes', packages: 'hono' },
  { rooms: 'src/views', packages: 'hono' },
  { rooms: 'src/views/english.ts' },
  { rooms: 'src/http', packages: 'hono' },
  { rooms: 'src/bound-counter.ts' },
  { rooms: 'src/openapi', packages: 'hono' },
  // Nothing from here on receives or answers HTTP requests.
  { rooms: 'src/service' },
  { rooms: 'src/isolate.ts' },
  { rooms: 'src/config' },
  { rooms: 'src/plans.ts' },
  { rooms: 'src/tokens.ts' },
  { rooms: 'src/visits' },
  { rooms: 'src/counters/changes' },
  { rooms: 'src/counters/read' },
  { rooms: 'src/counters/history src/counters/rollup src/counters/verify src/counters/write' },
  { rooms: 'src/counters/ledger' },
  { rooms: 'src/counters' },
  {
    rooms:
      'src/bounded-map.ts src/csv.ts src/hit-reasons.ts src/log.ts src/periods.ts src/schemas.ts src/units.ts src/visible-key.ts',
  },
  { rooms: 'src/database', packages: '@planetscale/database' },
  { rooms: 'src/generated.ts' },
]
