import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../local/processes/free-port.ts'
import { hit } from '../newcomer.ts'
import { type Finally, NpmScript, PROJECT, stateDirectory } from '../npm-script.ts'

export const TOKEN = 'a-token-for-the-owner-of-one-machine'
/** The site whose pages may count, as wrangler.toml has it. */
export const SITE = 'https://example.com'

/** Page views, and visitors beside them. */
const COUNTERS = `
[vars.COUNTERS.page_view]
record_type = 1
public = true
also = "visitor"
new_keys_per_minute = "unlimited"

[vars.COUNTERS.visitor]
record_type = 3
public = true
dedupe_seconds = 86400
`

/**
 * A folder as an own repository's, with the Worker of this clone. Its data is in its folder `data`.
 *
 * @param edit changes wrangler.toml
 */
export async function serveFolder(
  atEnd: Finally = onTestFinished,
  edit = (settings: string): string => settings,
): Promise<string> {
  const folder = join(await stateDirectory(atEnd), 'my counter')
  await mkdir(folder)
  const shipped = await readFile(join(PROJECT, 'wrangler.toml'), 'utf8')
  const settings = shipped
    .replace('"src/index.ts"', JSON.stringify(join(PROJECT, 'src/index.ts')))
    .replace(/\[build\]\n(?:\w+ = .*\n)+/, '')
  await symlink(join(PROJECT, 'dist'), join(folder, 'dist'))
  await writeFile(join(folder, 'wrangler.toml'), edit(settings + COUNTERS))
  const serve = `exec node '${join(PROJECT, 'local/serve/serve.ts')}'`
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: { serve } }))
  return folder
}

/** A running `serve`. */
export class Served {
  readonly script: NpmScript
  readonly url: string
  readonly folder: string

  /** Does not wait until it is up. */
  constructor(folder: string, port: number, env: NodeJS.ProcessEnv, atEnd: Finally = onTestFinished) {
    this.folder = folder
    this.url = `http://127.0.0.1:${port}`
    const own = { API_TOKEN: TOKEN, MYSQL_URL: '', DATABASE_URL: '', STATE_DIR: '', PORT: String(port) }
    this.script = new NpmScript(['--prefix', folder, 'run', '-s', 'serve'], { ...process.env, ...own, ...env }, atEnd)
  }

  static async start(
    env: NodeJS.ProcessEnv,
    { folder, port, atEnd = onTestFinished }: { folder?: string; port?: number; atEnd?: Finally } = {},
  ): Promise<Served> {
    const served = new Served(folder ?? (await serveFolder(atEnd)), port ?? (await freePort()), env, atEnd)
    await served.script.printed(/"event":"serve_started"/)
    return served
  }

  /** The lines of its log. @throws {SyntaxError} if one is not JSON */
  get log(): Record<string, unknown>[] {
    const whole = this.script.output.split('\n').slice(0, -1)
    return whole.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Sends a signal to the process whose command line matches: the server itself, workerd or the database. */
  async signal(program: RegExp, signal: NodeJS.Signals): Promise<void> {
    const { stdout } = await promisify(execFile)('ps', [
      '-ww',
      '-o',
      'pid=,args=',
      '-p',
      (await this.script.processes()).join(),
    ])
    const lines = stdout.split('\n').filter((line) => program.test(line.trim().replace(/^\d+ /, '')))
    if (lines.length !== 1) throw new Error(`${program} matches ${lines.length} processes:\n${stdout}`)
    process.kill(Number(lines[0]!.trim().split(/\s+/)[0]), signal)
  }

  /** Counts a view of a page of the site. */
  view(headers: Record<string, string> = {}, key = '/blog/hello'): Promise<Response> {
    return hit(this.url, { Origin: SITE, ...headers }, key)
  }

  async count(type: string, key = '/blog/hello'): Promise<number> {
    const response = await fetch(`${this.url}/v1/counters/${type}/${encodeURIComponent(key)}`)
    if (!response.ok) throw new Error(await response.text())
    return ((await response.json()) as { count: number }).count
  }
}

/** What `run` returns within one UTC day: a visitor counts once a day. @param run gets another key each time */
export async function withinOneDay<T>(run: (key: string) => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    const day = new Date().getUTCDate()
    const result = await run(`/day-${n}`)
    if (new Date().getUTCDate() === day) return result
  }
}

export const SERVER = /^node \/.*serve\.ts$/
export const WORKERD = /^\S*workerd serve /
export const DATABASE = /^\S*(?:mysqld|mariadbd) --no-defaults/
