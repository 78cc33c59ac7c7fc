import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../../local/processes/free-port.ts'
import { isInstalled } from '../../../local/processes/install-system-packages.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { Served, SITE, serveFolder, TOKEN, withinOneDay } from './serve-script.ts'

/** The name of the counter's host. */
const NAME = 'counter.example'

/** Debian's. The tests of test/browser install it. */
const CHROMIUM = '/usr/bin/chromium'
const hasChromium = await isInstalled(CHROMIUM)

// .ci/run installs it on Debian. Its package would start a service on other machines.
describe.skipIf(!(await isInstalled('caddy')))("serve, behind Debian's Caddy with TLS", { timeout: 300_000 }, () => {
  it('counts 200 addresses as 200 visitors, ignores forged headers, and has the address of the web server', async () => {
    const { name } = await takeDatabase({ empty: true })
    const port = await freePort()
    const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}`, TRUSTED_PROXIES: '127.0.0.1' }
    const served = await Served.start(env)
    await startCaddy(served, port)

    /** @param from the client's address */
    const send = (from: string, path: string, headers: Record<string, string> = {}, body?: string) =>
      new Promise<{ response: IncomingMessage; text: string }>((resolve, reject) => {
        const method = body === undefined ? 'GET' : 'POST'
        // Caddy made the certificate itself.
        const options = { servername: NAME, localAddress: from, rejectUnauthorized: false, agent: false }
        const sent = request({
          host: '127.0.0.1',
          port,
          path,
          method,
          ...options,
          headers: { Host: `${NAME}:${port}`, ...headers },
        })
        sent.once('error', reject).once('response', async (response) => {
          let text = ''
          for await (const part of response.setEncoding('utf8')) text += part
          resolve({ response, text })
        })
        sent.end(body)
      })
    const view = async (from: string, key: string, forged: Record<string, string> = {}) => {
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': 'Mozilla/5.0 (X11) Firefox/145',
        Origin: SITE,
      }
      const body = JSON.stringify({ type: 'page_view', key })
      return (await send(from, '/hit', { ...headers, ...forged }, body)).response.headers['x-hit']
    }
    await expect.poll(() => view('127.0.2.1', '/blog/hello').catch(() => null)).toBe('counted')
    const counts = withinOneDay(async (day) => {
      for (let i = 1; i <= 200; i++) expect(await view(`127.0.2.${i}`, day)).toBe('counted')
      for (const forged of ['X-Forwarded-For', 'CF-Connecting-IP', 'X-Real-IP', 'MF-CF-Blob']) {
        await view('127.0.2.1', day, { [forged]: '198.51.100.7' })
      }
      return [await served.count('visitor', day), await served.count('page_view', day)]
    })
    expect(await counts).toEqual([200, 204])

    const origin = `https://${NAME}:${port}`
    expect((await send('127.0.2.1', '/docs')).text).toContain(origin)
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin }
    const { response } = await send('127.0.2.1', '/login', form, `token=${TOKEN}&next=/`)
    expect(response.headers['set-cookie']?.join()).toMatch(/; Secure/)
    const cookie = response.headers['set-cookie']!.map((one) => one.split(';')[0]).join('; ')
    expect((await send('127.0.2.1', '/?type=page_view', { Cookie: cookie })).text).toContain('/blog/hello')
  })

  it.skipIf(!hasChromium)('counts what Chromium visits, and shows it the dashboard', async () => {
    const { name } = await takeDatabase({ empty: true })
    const port = await freePort()
    const folder = await serveFolder()
    const [counter, site] = [`https://${NAME}:${port}`, `${SITE}:${port}`]
    const settings = join(folder, 'wrangler.toml')
    await writeFile(settings, (await readFile(settings, 'utf8')).replace(`"${SITE}"`, `"${site}"`))
    const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}`, TRUSTED_PROXIES: '127.0.0.1' }
    const served = await Served.start(env, { folder })
    const snippet = `<script defer src='${counter}/slotted.js'></script>`
    const page = `header Content-Type text/html\nrespond "<!doctype html>${snippet}"`
    await startCaddy(served, port, `${site} {\ntls internal\n${page}\n}`)

    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      // The sandbox does not work for root. Hits of a driven or headless browser do not count.
      args: [
        '--no-sandbox',
        '--disable-blink-features=AutomationControlled',
        '--user-agent=Mozilla/5.0 (X11) Firefox/145',
        '--host-resolver-rules=MAP * 127.0.0.1',
      ],
    })
    onTestFinished(() => browser.close())
    // Caddy made the certificates itself.
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const visit = await context.newPage()
    await expect.poll(() => visit.goto(`${site}/blog/hello`).then((shown) => shown?.status(), String)).toBe(200)
    await expect.poll(() => served.count('page_view').catch(String)).toBe(1)
    expect(await served.count('visitor')).toBe(1)

    await visit.goto(`${counter}/?type=page_view`)
    await visit.getByLabel('API token').fill(TOKEN)
    await visit.getByRole('button', { name: 'Sign in' }).click()
    await visit.getByText('/blog/hello').first().waitFor()
    const cookies = await context.cookies(counter)
    expect(new Set(cookies.map(({ secure }) => secure))).toEqual(new Set([true]))
  })
})

/** @param sites more sites, as in a Caddyfile */
async function startCaddy(served: Served, port: number, sites = ''): Promise<void> {
  const storage = join(served.folder, 'data/caddy')
  const caddyfile = join(served.folder, 'Caddyfile')
  const options = `admin off\nskip_install_trust\nauto_https disable_redirects\nstorage file_system "${storage}"`
  const site = `https://${NAME}:${port} {\ntls internal\nreverse_proxy ${served.url.slice('http://'.length)}\n}`
  await writeFile(caddyfile, `{\n${options}\n}\n${site}\n${sites}\n`)
  const caddy = spawn('caddy', ['run', '--config', caddyfile], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = new Promise((resolve) => caddy.once('exit', resolve))
  onTestFinished(async () => {
    caddy.kill()
    await ended
  })
}
