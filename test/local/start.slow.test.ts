import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { alive, NpmScript, npmStart, stateDirectory } from './npm-script.ts'

const run = promisify(execFile)
/** Without MYSQL_URL, as a newcomer starts it: on a private server. */
const PRIVATE = { MYSQL_URL: '', API_TOKEN: '' }

const count = async (url: string) => {
  const response = await fetch(`${url}/v1/counters/page_view/%2Fblog%2Fhello`)
  return (await response.json()) as { count: number; total: number; pending: number }
}
const hit = (url: string) =>
  fetch(`${url}/hit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/145' },
    body: '{"type":"page_view","key":"/blog/hello"}',
  })

async function gone(pids: readonly number[]): Promise<void> {
  for (let rest = await alive(pids); rest.length > 0; rest = await alive(pids)) {
    await new Promise((done) => setTimeout(done, 200))
  }
}

describe('npm start', () => {
  it('prints commands that work, rolls up every minute, refuses a second start, stops cleanly and keeps its data', async () => {
    const API_TOKENS = `# two lines and more\n${await tokenLines({ ci: 'read', app: 'count:download' })}\n`
    const env = { ...PRIVATE, STATE_DIR: await stateDirectory(), API_TOKENS }
    const { service, url, port } = await npmStart(env)
    const commands = service.output.match(/^ {2}curl .*$/gm)!
    expect(commands.length).toBeGreaterThanOrEqual(5)
    for (const command of commands) {
      const { stdout } = await run('sh', ['-c', command.replace('curl', 'curl -sS --fail-with-body')])
      expect(stdout).toMatch(/X-Hit: counted|"count"|"outcome":"complete"|"pendingSlots"/)
    }
    expect(await count(url)).toMatchObject({ count: 11 })

    const demo = /demo site {2}(http:\/\/127\.0\.0\.1:\d+)/.exec(service.output)![1]!
    expect(await (await fetch(demo)).text()).toContain(`<script defer src="${url}/beacon.js" data-local></script>`)
    expect((await fetch(`${url}/beacon.js`)).headers.get('Content-Type')).toContain('text/javascript')

    const statuses = ['ci', 'app', 'nobody'].map(async (name) => {
      return (await fetch(`${url}/v1/status`, { headers: { Authorization: `Bearer ${tokenOf(name)}` } })).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 403, 401])

    // The cron of production fires at the full minute.
    await hit(url)
    const began = Date.now()
    while ((await count(url)).pending > 0) {
      expect(Date.now() - began).toBeLessThan(100_000)
      await new Promise((done) => setTimeout(done, 500))
    }
    expect(await count(url)).toMatchObject({ count: 12, total: 12 })
    await service.printed(/"event":"rollup","scheduled":"[^"]*:00\.000Z","outcome":"complete"/)

    const second = new NpmScript(['start'], { ...env, PORT: String(await freePort()) })
    expect(await second.ended).toBe(1)
    expect(second.output).toMatch(/running already, as process \d+/)
    const sameport = new NpmScript(['start'], { ...PRIVATE, STATE_DIR: await stateDirectory(), PORT: port })
    expect(await sameport.ended).toBe(1)
    expect(sameport.output).toMatch(/Port \d+ is in use/)
    const taken = new URL(demo).port
    const others = { ...PRIVATE, STATE_DIR: await stateDirectory(), PORT: String(await freePort()) }
    const sameDemoPort = new NpmScript(['start'], { ...others, DEMO_PORT: taken })
    expect(await sameDemoPort.ended).toBe(1)
    expect(sameDemoPort.output).toContain(`Port ${taken} is in use by another program.`)
    expect(sameDemoPort.output).toContain('DEMO_PORT=')
    expect(await count(url)).toMatchObject({ count: 12 })

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

  it('leaves nothing running after kill -9, and the next start has everything that was acknowledged', async () => {
    const env = { ...PRIVATE, STATE_DIR: await stateDirectory() }
    const first = await npmStart(env)
    const processes = await first.service.processes()
    let acknowledged = 0
    const hits = Array.from({ length: 4 }, async () => {
      while ((await hit(first.url)).ok) acknowledged++
    })
    while (acknowledged < 100) await new Promise((done) => setTimeout(done, 20))
    const starter = Number(/as process (\d+)/.exec(await secondStart(env))![1])
    process.kill(starter, 'SIGKILL')
    await Promise.allSettled(hits)
    await gone(processes)

    const next = await npmStart(env)
    const { count: counted } = await count(next.url)
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    // Hits without a response may have been counted too.
    expect(counted).toBeLessThanOrEqual(acknowledged + 4)

    // The worst case: everything is killed at once, stop-with-parent.ts included. Only the database and workerd survive.
    const all = await next.service.processes()
    const commands = (await alive(all)).filter((line) => !/mysqld|mariadbd|workerd/.test(line))
    for (const line of commands) {
      try {
        process.kill(Number(line.trim().split(/\s+/)[0]), 'SIGKILL')
      } catch {
        // It has ended with its parent.
      }
    }
    await next.service.ended
    const last = await npmStart({ ...env, PORT: next.port })
    expect(await count(last.url)).toMatchObject({ count: counted })
    await gone(all)
    await last.service.signal('SIGINT')
    await last.service.ended
  })

  it('answers 503 while its database is down, restarts it and loses nothing', async () => {
    const directory = await stateDirectory()
    const { service, url } = await npmStart({ ...PRIVATE, STATE_DIR: directory })
    await hit(url)
    const record = JSON.parse(await readFile(join(directory, 'database/database.pid.json'), 'utf8')) as { pid: number }
    process.kill(record.pid, 'SIGKILL')
    const dead = await hit(url)
    expect([dead.status, dead.headers.get('Retry-After')]).toEqual([503, '5'])
    const again = await Promise.all(Array.from({ length: 5 }, () => hit(url)))
    for (const { status } of again) expect(status).toBe(503)
    await service.printed(/The database is back/)
    while ((await hit(url)).status !== 204) await new Promise((done) => setTimeout(done, 200))
    expect(await count(url)).toMatchObject({ count: 2 })
    const processes = await service.processes()
    await service.signal('SIGTERM')
    await service.ended
    expect(await alive(processes)).toEqual([])
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

/** The output of a second start, which names the process of the first one. */
async function secondStart(env: NodeJS.ProcessEnv): Promise<string> {
  const second = new NpmScript(['start'], { ...env, PORT: String(await freePort()) })
  await second.ended
  return second.output
}
