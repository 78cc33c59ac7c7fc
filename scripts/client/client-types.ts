import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../../local/project-root.ts'

const HEADER = `// Made from the routes by \`npm run build\`. It imports only types of Hono, so it may also be copied.
import type { Hono } from 'hono'
import type { BlankEnv } from 'hono/types'

/** The routes of a Slotted Counter, for Hono's client: \`hc<App>('https://YOUR-WORKER')\`. */
export type App = Hono<BlankEnv, Routes, '/'>

`

/** Builds the types that clients see, without those of the implementation. */
export async function buildClientTypes(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-client-'))
  try {
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc')
    // Several checkers would each infer the same types, in twice the time.
    const options = ['--checkers', '1', '--outDir', directory]
    await promisify(execFile)(process.execPath, [tsc, '-p', import.meta.dirname, ...options])
    const made = await readFile(join(directory, 'scripts/client/routes.d.ts'), 'utf8')
    return HEADER + made.replace(/^export declare const routes: /m, 'type Routes = ')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
