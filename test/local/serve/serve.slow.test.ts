import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../../local/processes/free-port.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { alive, atEndOfSuite, saying, stateDirectory } from '../npm-script.ts'
import { DATABASE, SERVER, Served, SITE, serveFolder, TOKEN, WORKERD, withinOneDay } from './serve-script.ts'

const run = promisify(execFile)
const lanAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const authorized = { Authorization: `Bearer ${TOKEN}` }
/** Hits of a visitor in a minute. */
const LIMIT = 20

// Starts of everything: on a busy machine, each takes a while.
describe('serve, on a server of MYSQL_URL', { timeout: 300_000 }, () => {
  const atEnd = atEndOfSuite()
  let served: Served
  it('starts, counts and serves the files', async () => {
    const { name } = await takeDatabase({ empty: true })
    const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}`, TRUSTED_PROXIES: '127.0.0.1' }
    // Queues are ignored.
    const folder = await serveFolder(atEnd, (settings) =>
      settings
        .replace('limit = 600,', `limit = ${LIMIT},`)
        .replace(/^# (?=\[\[queues|(?:binding|queue|dead_letter_queue) = )/gm, ''),
    )
    served = await Served.start(env, { folder, atEnd })
    const response = await served.view()
    expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'counted'])
    expect(await served.count('page_view')).toBe(1)
    expect((await fetch(`${served.url}/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')
    expect((await fetch(`${served.url}/v1/status`, { headers: authorized })).status).toBe(200)
    expect((await fetch(`${served.url}/v1/status`, { headers: { Authorization: 'Bearer local' } })).status).toBe(401)
  })

  it('warns of missing proxy headers only when a browser sends the request', async () => {
    const warnings = () => served.log.filter(({ event }) => event === 'proxy_headers').map(({ message }) => message)
    expect(warnings()).toEqual([])
    await fetch(`${served.url}/healthz`, { headers: { 'Accept-Language': 'de' } })
    const missing = 'A request from 127.0.0.1 has no x-forwarded-for, so its visitors count as one.'
    await expect.poll(warnings).toEqual([missing])
  })

  it('counts 200 addresses behind a trusted proxy as 200 visitors, and a forged one as the peer', async () => {
    const counts = (key: string) => Promise.all([served.count('visitor', key), served.count('page_view', key)])
    const addresses = Array.from({ length: 200 }, (_, i) => `203.0.${i}.7`)
    const honest = withinOneDay(async (day) => {
      for (const address of [...addresses, ...addresses]) {
        // What a visitor sends, before the web server adds its address.
        const response = await served.view({ 'X-Forwarded-For': `198.51.100.1, ${address}` }, day)
        expect(response.headers.get('X-Hit')).toBe('counted')
      }
      return counts(day)
    })
    expect(await honest).toEqual([200, 400])
    const forged = withinOneDay(async (day) => {
      for (const [i, address] of addresses.slice(0, 5).entries()) {
        await served.view({ 'CF-Connecting-IP': `192.0.2.${i}` }, `/forged${day}`)
        await served.view({ 'CF-Connecting-IP': address, 'X-Forwarded-For': '203.0.113.1' }, `/forged${day}`)
      }
      return counts(`/forged${day}`)
    })
    // The peer's, which named no address, and 203.0.113.1.
    expect(await forged).toEqual([2, 10])
  })

  it('limits a visitor as wrangler.toml says', async () => {
    // Windows are the minutes of the clock, so a window may end between these.
    const said = async () => (await served.view({ 'X-Forwarded-For': '198.18.0.1' })).headers.get('X-Hit')
    const answers = await Promise.all(Array.from({ length: 2 * LIMIT + 1 }, said))
    expect(new Set(answers)).toEqual(new Set(['counted', 'ignored; reason=rate']))
    expect(answers.filter((answer) => answer === 'counted').length).toBeGreaterThanOrEqual(LIMIT)
  })

  it('has the address of the web server in links and redirects', async () => {
    const page = (headers: Record<string, string>) =>
      new Promise<{ status?: number | undefined; location?: string | undefined }>((resolve, reject) => {
        request(`${served.url}/stats`, { headers }, (response) => {
          response.resume()
          resolve({ status: response.statusCode, location: response.headers.location })
        })
          .on('error', reject)
          .end()
      })
    const proxied = { 'X-Forwarded-For': '203.0.113.9', Host: 'counter.example' }
    expect(await page(proxied)).toEqual({ status: 308, location: 'https://counter.example/stats' })
    expect((await page({ ...proxied, 'X-Forwarded-Proto': 'https' })).status).not.toBe(308)
    expect((await page({ Host: 'counter.example/..' })).status).toBe(400)
  })

  // The Worker sends what comes from another address to https.
  it.skipIf(lanAddress === undefined)('starts on an address of the network', async () => {
    const { name } = await takeDatabase({ empty: true })
    const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}`, HOST: lanAddress, TRUSTED_PROXIES: '127.0.0.1' }
    const other = await Served.start(env)
    await other.signal(SERVER, 'SIGTERM')
    expect(await other.script.ended).toBe(0)
  })

  it('refuses a second one on the same folder, and wrong settings', async () => {
    const second = new Served(served.folder, await freePort(), {})
    expect(await second.script.outcome()).toEqual(saying(1, 'It is running already, as process'))
    const wrong = new Served(await serveFolder(), await freePort(), { API_TOKEN: 'local', HOST: '0.0.0.0' })
    expect(await wrong.script.outcome()).toEqual(saying(1, /API_TOKEN must.*HOST=0\.0\.0\.0 would/s))
    const { name } = await takeDatabase({ empty: true })
    const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}`, API_TOKENS: 'nameless' }
    const refused = new Served(await serveFolder(), await freePort(), env)
    expect(await refused.script.outcome()).toEqual(saying(1, 'The configuration has errors'))
  })

  it('starts workerd again after kill -9, and loses nothing that it acknowledged', async () => {
    const before = await served.count('page_view', '/killed')
    let acknowledged = 0
    let failed = 0
    let stop = false
    const clients = Array.from({ length: 4 }, async () => {
      while (!stop) {
        // Programs on this machine have no rate limit.
        const response = await served.view({ 'X-Forwarded-For': '127.0.0.1' }, '/killed').catch(() => null)
        if (response?.status === 204) acknowledged++
        else failed++
      }
    })
    await expect.poll(() => acknowledged).toBeGreaterThan(50)
    await served.signal(WORKERD, 'SIGKILL')
    await served.script.printed(/The Worker is running again/)
    const then = acknowledged
    await expect.poll(() => acknowledged).toBeGreaterThan(then + 50)
    stop = true
    await Promise.all(clients)
    expect(failed).toBeGreaterThan(0)
    const counted = (await served.count('page_view', '/killed')) - before
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    expect(counted).toBeLessThanOrEqual(acknowledged + 4)
  })

  it('rolls up on time, and answers what is under way before it stops', async () => {
    const minute = new Date(Math.ceil(Date.now() / 60_000) * 60_000)
    const runs = () => served.log.filter(({ event, scheduled }) => event === 'rollup' && scheduled === minute.toJSON())
    await expect.poll(runs, { timeout: 120_000 }).toMatchObject([{ outcome: 'complete' }])
    expect(Date.parse(String(runs()[0]!.time))).toBeGreaterThanOrEqual(minute.getTime())
    const processes = await served.script.processes()
    const sent = await beginHit(served.url)
    await served.signal(SERVER, 'SIGTERM')
    await served.script.printed(/SIGTERM: stopping/)
    await expect
      .poll(() =>
        served.view().then(
          ({ status }) => status,
          () => 'refused',
        ),
      )
      .toBe('refused')
    expect(await sent.finish()).toBe(204)
    expect(await served.script.ended).toBe(0)
    expect(served.log.at(-1)).toMatchObject({ event: 'serve_stopped' })
    expect(runs()).toHaveLength(1)
    await expect.poll(() => alive(processes)).toEqual([])
  })
})

/** Sends the headers of a hit, waits until the server has read them, and sends the body when asked. */
async function beginHit(url: string): Promise<{ finish(): Promise<number | undefined> }> {
  const body = JSON.stringify({ type: 'page_view', key: '/under-way' })
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'User-Agent': 'Mozilla/5.0 (X11) Firefox/145',
    Origin: SITE,
    Expect: '100-continue',
  }
  const sent = request(`${url}/hit`, { method: 'POST', headers })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sent.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject)
  })
  await new Promise((resolve) => sent.once('continue', resolve).flushHeaders())
  return {
    finish() {
      sent.end(body)
      return answered
    },
  }
}

describe('serve, on a private database', { timeout: 300_000 }, () => {
  it('has everything that was acknowledged after kill -9 of the database and of the server, and after a move', async () => {
    const first = await Served.start({})
    let acknowledged = 0
    let unknown = 0
    const view = async () => {
      const { status, headers } = await first.view()
      if (status === 204) acknowledged++
      else expect([status, headers.has('Retry-After')]).toEqual([503, true])
      if (headers.get('X-Hit') === 'unknown') unknown++
    }
    for (let i = 0; i < 50; i++) await view()
    await first.signal(DATABASE, 'SIGKILL')
    while (!first.script.output.includes('The database is running again')) await view()
    const then = acknowledged
    while (acknowledged < then + 50) await view()
    const processes = await first.script.processes()
    await first.signal(SERVER, 'SIGKILL')
    await first.script.ended
    await expect.poll(() => alive(processes)).toEqual([])

    const second = await Served.start({}, { folder: first.folder })
    const counted = await second.count('page_view')
    expect(counted).toBeGreaterThanOrEqual(acknowledged)
    expect(counted).toBeLessThanOrEqual(acknowledged + unknown)
    await second.signal(SERVER, 'SIGTERM')
    expect(await second.script.ended).toBe(0)

    const other = await serveFolder()
    await run('cp', ['-a', join(first.folder, 'data'), other])
    const third = await Served.start({}, { folder: other })
    expect(await third.count('page_view')).toBe(counted)
    expect((await third.view()).status).toBe(204)
  })

  it('says that its disk is full, and then has everything that was acknowledged', async ({ skip }) => {
    const disk = await stateDirectory()
    const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=500m', 'tmpfs', disk]).then(
      () => true,
      () => false,
    )
    skip(!isMounted, 'That needs root.')
    onTestFinished(async () => {
      await run('umount', [disk])
    })
    const served = await Served.start({ STATE_DIR: join(disk, 'data') })
    const answers: (string | null)[] = []
    const view = async () => {
      const response = await served.view()
      answers.push(response.headers.get('X-Hit'))
      return response.status
    }
    for (let i = 0; i < 20; i++) expect(await view()).toBe(204)
    const filling = join(disk, 'filling')
    await expect(run('dd', ['if=/dev/zero', `of=${filling}`, 'bs=1M'])).rejects.toThrow('No space left')
    await expect.poll(view).toBe(503)
    const status = await fetch(`${served.url}/v1/status`, { headers: authorized })
    expect(await status.text()).toContain('is its disk full?')
    expect(served.log.filter(({ level, path }) => level === 'error' && path === '/hit')).not.toEqual([])
    await rm(filling)
    // Otherwise it tries again after a minute.
    await served.signal(DATABASE, 'SIGKILL')
    await served.script.printed(/The database is running again/)
    await expect.poll(view).toBe(204)
    const [counted, unknown] = ['counted', 'unknown'].map((said) => answers.filter((answer) => answer === said).length)
    const count = await served.count('page_view')
    expect(count).toBeGreaterThanOrEqual(counted!)
    expect(count).toBeLessThanOrEqual(counted! + unknown!)
  })
})
