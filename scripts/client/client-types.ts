import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from '../../local/project-root.ts'

const HEADER = `// Made from the routes by \`npm run build\`. It imports only types of Hono, so it may also be copied.
import type { Hono } from 'hono'
import type { BlankEnv } from 'hono/types'

/** The routes of a Slotted Counter, for Hono's client: \`hc<App>('https://YOUR-WORKER')\`. */
export type App = Hono<BlankEnv, Routes, '/'>

`

/** Builds the types that clients see, without those of the implementation. Keeps what the compiler has made, for the next time. */
export async function buildClientTypes(): Promise<string> {
  const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc')
  // Several checkers would each infer the same types, in twice the time.
  await promisify(execFile)(process.execPath, [tsc, '-p', import.meta.dirname, '--checkers', '1'])
  const routes = await readFile(join(PROJECT, 'dist/types/scripts/client/routes.d.ts'), 'utf8')
  return HEADER + routes.replace(/^export declare const routes: /m, 'type Routes = ')
}
