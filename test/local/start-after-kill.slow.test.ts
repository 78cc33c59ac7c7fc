import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { count, hit, PRIVATE } from './newcomer.ts'
import { alive, NpmScript, npmStart, stateDirectory } from './npm-script.ts'

async function gone(pids: readonly number[]): Promise<void> {
  for (let rest = await alive(pids); rest.length > 0; rest = await alive(pids)) {
    await new Promise((done) => setTimeout(done, 200))
  }
}

// Starts of everything: on a busy machine, each takes a while.
describe('npm start', { timeout: 300_000 }, () => {
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
    await service.printed(/The database is running again/)
    while ((await hit(url)).status !== 204) await new Promise((done) => setTimeout(done, 200))
    expect(await count(url)).toMatchObject({ count: 2 })
    const processes = await service.processes()
    await service.signal('SIGTERM')
    await service.ended
    expect(await alive(processes)).toEqual([])
  })
})

/** The output of a second start, which names the process of the first one. */
async function secondStart(env: NodeJS.ProcessEnv): Promise<string> {
  const second = new NpmScript(['start'], { ...env, PORT: String(await freePort()) })
  await second.ended
  return second.output
}
