import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { generateAccessLog } from './cli/sample-log.ts'
import { count, hit, PRIVATE } from './newcomer.ts'
import { alive, NpmScript, npmStart, PROJECT, stateDirectory } from './npm-script.ts'

const run = promisify(execFile)

/** Signs in to the dashboard as the output of `npm start` says. Returns the page views of seven days, as its page shows them. */
async function shownViews(output: string): Promise<number> {
  const [, dashboard, token] = /dashboard {2}(\S+) \(sign in with the API token: (\S+)\)/.exec(output)!
  const signedIn = await fetch(new URL('/login', dashboard), {
    method: 'POST',
    headers: { Origin: new URL(dashboard!).origin },
    body: new URLSearchParams({ token: token!, next: '/' }),
    redirect: 'manual',
  })
  const headers = { Cookie: signedIn.headers.get('Set-Cookie')!.split(';')[0]! }
  const page = await (await fetch(new URL('/?type=page_view', dashboard), { headers })).text()
  return Number(/id="tile-7d".*?<b>([\d,]+)/s.exec(page)![1]!.replaceAll(',', ''))
}

/**
 * Options of Node.js whose clock is ahead, so that a minute is full in 20 s. The cron of production fires at the full minute, and
 * the test need not wait for that of the wall.
 */
function shortMinute(): string {
  const ahead = (100_000 - (Date.now() % 60_000)) % 60_000
  const clock = `const Wall = Date
globalThis.Date = class Date extends Wall {
  constructor(...args) { super(...(args.length === 0 ? [Wall.now() + ${ahead}] : args)) }
  static now() { return Wall.now() + ${ahead} }
}`
  return `--import=data:text/javascript,${encodeURIComponent(clock)}`
}

// Starts of everything: on a busy machine, each takes a while.
describe('npm start', { timeout: 300_000 }, () => {
  it('prints commands that work, rolls up every minute, refuses a second start, stops cleanly and keeps its data', async () => {
    const API_TOKENS = `# two lines and more\n${await tokenLines({ ci: 'read', app: 'count:download' })}\n`
    const STATE_DIR = await stateDirectory()
    const env = { ...PRIVATE, STATE_DIR, API_TOKENS, NODE_OPTIONS: shortMinute() }
    const { service, url, port } = await npmStart(env)
    expect(service.output).toContain('once deployed, only the sites in wrangler.toml: https://example.com')
    const commands = service.output.match(/^ {2}curl .*$/gm)!
    expect(commands.length).toBeGreaterThanOrEqual(5)
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', command.replace('curl', 'curl -sS --fail-with-body')])
      expect(stdout).toMatch(/X-Hit: counted|"count"|"outcome":"complete"|"pendingSlots"/)
    }
    expect(await count(url)).toMatchObject({ count: 11 })

    const log = join(STATE_DIR, 'newcomer.log')
    await writeFile(log, generateAccessLog(1_000))
    const before = await shownViews(service.output)
    const replay = /^ {2}(.*npm run replay -- )access\.log$/m.exec(service.output)![1]!
    const { stdout } = await run('sh', ['-c', replay + log], { cwd: PROJECT })
    const replayed = Number(/(\d+) page_view/.exec(stdout)![1])
    expect(await shownViews(service.output)).toBe(before + replayed)

    const demo = /demo site {2}(http:\/\/127\.0\.0\.1:\d+)/.exec(service.output)![1]!
    expect(await (await fetch(demo)).text()).toContain(`<script defer src="${url}/slotted.js"></script>`)
    expect((await fetch(`${url}/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')

    const statuses = ['ci', 'app', 'nobody'].map(async (name) => {
      return (await fetch(`${url}/v1/status`, { headers: { Authorization: `Bearer ${tokenOf(name)}` } })).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 403, 401])

    await hit(url)
    const taken = new URL(demo).port
    const elsewhere = async (more: NodeJS.ProcessEnv) => ({ ...PRIVATE, STATE_DIR: await stateDirectory(), ...more })
    const freePorts = [String(await freePort()), String(await freePort())] as const
    const refused = [
      { env: { ...env, PORT: freePorts[0] }, says: [/running already, as process \d+/] },
      { env: await elsewhere({ PORT: port }), says: [/Port \d+ is in use/] },
      {
        env: await elsewhere({ PORT: freePorts[1], DEMO_PORT: taken }),
        says: [`Port ${taken} is in use by another program.`, 'DEMO_PORT='],
      },
    ]
    await Promise.all(
      refused.map(async ({ env, says }) => {
        const other = new NpmScript(['start'], env)
        expect(await other.ended).toBe(1)
        for (const text of says) expect(other.output).toMatch(text)
      }),
    )
    expect(await count(url)).toMatchObject({ count: 12 })

    await expect.poll(() => count(url), { timeout: 180_000, interval: 500 }).toMatchObject({ count: 12, total: 12 })
    await service.printed(/"event":"rollup","scheduled":"[^"]*:00\.000Z","outcome":"complete"/)

    const processes = await service.processes()
    expect(processes.length).toBeGreaterThan(5)
    await service.signal('SIGINT')
    await service.ended
    expect(service.output).toContain('nothing is left running')
    expect(await alive(processes)).toEqual([])

    const again = await npmStart(env)
    expect(await count(again.url)).toMatchObject({ count: 12 })
    await again.service.signal('SIGTERM')
    await again.service.ended
  })

  it('stops cleanly while it is starting', async () => {
    const service = new NpmScript(['start'], {
      ...PRIVATE,
      STATE_DIR: await stateDirectory(),
      PORT: String(await freePort()),
    })
    await service.printed(/Starting the database/)
    const processes = await service.processes()
    await service.pressCtrlC()
    await service.ended
    expect(service.output).toContain('nothing is left running')
    expect(await alive(processes)).toEqual([])
  })
})
