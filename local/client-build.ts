import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from './worker-process.ts'

/** Where the types of the typed client are, for other people's projects. */
export const CLIENT_FILE = join(PROJECT, 'client/app.d.ts')

const HEADER = `// Made of the routes by \`npm run client\`; not to be edited. It imports types of Hono and nothing else, so it may also be copied.
// biome-ignore-all lint/complexity/noBannedTypes: how Hono says that there is nothing
import type { Hono } from 'hono'
import type { BlankEnv } from 'hono/types'

/** What a Slotted Counter answers, for Hono's client: \`hc<App>('https://YOUR-WORKER')\`. */
export type App = Hono<BlankEnv, Routes, '/'>

`

// A declaration of what a function returns is written out in full, where a name would only be repeated.
const SOURCE = `import type { ExtractSchema } from 'hono/types'
import type { App } from '../src/client.ts'
type Plain<T> = T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T
declare function plain<T>(): Plain<T>
export const routes = plain<ExtractSchema<App>>()
`

const BIN = join(PROJECT, 'node_modules/.bin')
const OPTIONS = {
  // The Worker's own types are made by another command, and do not reach the answers.
  extends: '../tsconfig.json',
  compilerOptions: {
    types: [],
    lib: ['esnext', 'dom', 'dom.iterable'],
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'made',
    rootDir: '..',
  },
  include: ['routes.ts', '../src/json-raw.d.ts'],
  exclude: [],
}

/** Writes out the types of src/client.ts: all that clients see, and nothing of what it is made of. */
export async function buildClient(): Promise<string> {
  const directory = await mkdtemp(join(PROJECT, '.client-'))
  try {
    await writeFile(join(directory, 'routes.ts'), SOURCE)
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(OPTIONS))
    const run = promisify(execFile)
    await run(join(BIN, 'tsc'), ['-p', directory])
    const made = await readFile(join(directory, 'made', directory.slice(PROJECT.length + 1), 'routes.d.ts'), 'utf8')
    const text = made.replace(/^export declare const routes: /m, 'type Routes = ')
    const formatting = run(join(BIN, 'biome'), ['format', `--stdin-file-path=${CLIENT_FILE}`], { cwd: PROJECT })
    formatting.child.stdin!.end(HEADER + text)
    return (await formatting).stdout
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
