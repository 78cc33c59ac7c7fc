import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { PROJECT } from '../../local/project-root.ts'
import { launchChromium } from './chromium.ts'

const TOKEN = 'a-token-for-examples'
const START_MS = 90_000
const run = promisify(execFile)

let browser: Browser
let folder: string
let packed: string
beforeAll(async () => {
  browser = await launchChromium()
  folder = join(inject('scratch'), 'examples')
  await mkdir(folder)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PROJECT })
  // Before the JSON are lines of the scripts.
  packed = join(folder, /"filename": "([^"]+)"/.exec(stdout)![1]!)
})
afterAll(() => browser?.close())

/** An example in an empty folder, with the packed package, on an empty database. */
async function installed(name: string) {
  const directory = join(folder, name)
  await cp(join(PROJECT, 'examples', name), directory, { recursive: true })
  // The project's Node, because wrangler refuses older ones.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const inExample = (command: string, ...args: string[]) => run(command, args, { cwd: directory, env })
  const port = await freePort()
  const url = `http://localhost:${port}`
  await replaceIn(join(directory, 'package.json'), /("slotted-counter": )"[^"]+"/, `$1"file:${packed}"`)
  await replaceIn(join(directory, 'src/index.ts'), 'http://localhost:8787', url)
  await inExample('npm', 'install', '--no-audit', '--no-fund')

  const response = await fetch(inject('databases'), { method: 'POST' })
  const { databaseUrl } = (await response.json()) as { databaseUrl: string }
  await writeFile(join(directory, '.dev.vars'), `DATABASE_URL=${databaseUrl}\nAPI_TOKEN=${TOKEN}\n`)
  return { directory, url, port, inExample }
}

async function replaceIn(file: string, from: string | RegExp, to: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replace(from, to))
}

/** Runs it with its own `wrangler dev`, until the test ends. */
async function wranglerDev({ directory, url, port }: { directory: string; url: string; port: number }): Promise<void> {
  const wrangler = join(directory, 'node_modules/wrangler/bin/wrangler.js')
  const server = await ServerProcess.start({
    name: 'wrangler',
    command: process.execPath,
    args: [wrangler, 'dev', `--config=${directory}/wrangler.toml`, `--port=${port}`, '--inspector-port=0'],
    records: directory,
    marker: directory,
    output: 'pipe',
    graceMs: 10_000,
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
  })
  onTestFinished(() => server.stop())
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (data) => (said += String(data)))
  for (const giveUpAt = Date.now() + START_MS; ; ) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    if (Date.now() > giveUpAt) throw new Error(`wrangler dev does not answer:\n${said}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const cron = async (url: string, expression: string) =>
  expect((await fetch(`${url}/cdn-cgi/handler/scheduled?${new URLSearchParams({ cron: expression })}`)).status).toBe(
    200,
  )

describe('With the packed package, in an empty folder', () => {
  it('the blog counts, reads, rolls up and shows its dashboard under /counter', async () => {
    const blog = await installed('blog')
    const { url, inExample } = blog
    expect((await inExample('npx', 'slotted-counter', 'migrate')).stdout).toMatch(/Applied \d+/)
    await inExample('npm', 'run', 'assets')
    await wranglerDev(blog)

    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${url}/posts/hello`)
    await expect.poll(() => page.textContent('b')).toBe('1')
    await cron(url, '* * * * *')
    await cron(url, '*/2 * * * *')
    const read = await fetch(`${url}/counter/v1/counters/page_view/${encodeURIComponent('/posts/hello')}`)
    expect(await read.json()).toMatchObject({ count: 1, total: 1, pending: 0 })

    await page.goto(`${url}/counter`)
    await page.fill('#token', TOKEN)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => page.textContent('#top')).toContain('/posts/hello')
    await page.getByRole('link', { name: 'API' }).click()
    await page.waitForURL(`${url}/counter/docs`)
    expect(await page.textContent('body')).toContain(`${url}/counter/v1/increments`)

    const deployed = await inExample('npx', 'wrangler', 'deploy', '--dry-run')
    expect(deployed.stdout).toContain('--dry-run: exiting now')
  })

  it('the short links count in process', async () => {
    const links = await installed('in-process')
    const { url, inExample } = links
    await inExample('npx', 'slotted-counter', 'migrate')
    await wranglerDev(links)
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await fetch(`${url}/docs`, { redirect: 'manual' })
      expect([status, headers.get('Location')]).toEqual([302, 'https://developers.cloudflare.com/workers/'])
    }
    await expect.poll(async () => (await fetch(url)).json()).toEqual({ docs: '3', vitess: '0' })
    await cron(url, '* * * * *')
    expect(await (await fetch(url)).json()).toEqual({ docs: '3', vitess: '0' })
    const deployed = await inExample('npx', 'wrangler', 'deploy', '--dry-run')
    expect(deployed.stdout).toContain('--dry-run: exiting now')
  })
})
