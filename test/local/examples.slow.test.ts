import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { PROJECT } from '../../local/project-root.ts'
import { takeDatabase } from '../harness/taken-databases.ts'
import { hit } from './newcomer.ts'
import { packedPackage } from './packed-package.ts'

const TOKEN = 'a-token-for-examples'
const START_MS = 90_000
const run = promisify(execFile)

// The project's Node, because wrangler refuses older ones.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

let folder: string
/** What `npm install` has made of the blog, for both examples: it takes most of the time. */
let installed: { dependencies: unknown; modules: string }
beforeAll(async () => {
  folder = join(inject('scratch'), 'examples')
  const directory = join(folder, 'installed')
  await mkdir(directory, { recursive: true })
  const packed = await packedPackage()
  const file = join(directory, 'package.json')
  await cp(join(PROJECT, 'examples/blog/package.json'), file)
  const dependencies = await dependenciesOf(file)
  await replaceIn(file, /("slotted-counter": )"[^"]+"/, `$1"file:${packed}"`)
  await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: directory, env })
  installed = { dependencies, modules: join(directory, 'node_modules') }
})

async function dependenciesOf(file: string): Promise<unknown> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  return { dependencies, devDependencies }
}

/** An example in an empty folder, with the packed package, on an empty database. */
async function example(name: string) {
  const directory = join(folder, name)
  await cp(join(PROJECT, 'examples', name), directory, { recursive: true })
  expect(await dependenciesOf(join(directory, 'package.json'))).toEqual(installed.dependencies)
  await symlink(installed.modules, join(directory, 'node_modules'))
  const inExample = (command: string, ...args: string[]) => run(command, args, { cwd: directory, env })
  const port = await freePort()
  const url = `http://localhost:${port}`
  await replaceIn(join(directory, 'src/index.ts'), 'http://localhost:8787', url)

  const { databaseUrl } = await takeDatabase({ empty: true })
  await writeFile(join(directory, '.dev.vars'), `DATABASE_URL=${databaseUrl}\nAPI_TOKEN=${TOKEN}\n`)
  return { directory, url, port, databaseUrl, inExample }
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
  it('each command runs, without the packages that only commands need', async () => {
    const there = await readdir(installed.modules)
    for (const name of ['commander', 'csv-parse', 'mysql2', 'p-retry', 'toml-eslint-parser']) {
      expect(there).not.toContain(name)
    }
    const help = async (...of: string[]) =>
      (await run('npx', ['slotted-counter', ...of, '--help'], { cwd: join(folder, 'installed'), env })).stdout
    const commands = [...(await help()).matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!)
    expect(commands).toContain('migrate')
    for (const name of commands) expect(await help(name)).toContain(`Usage: npx slotted-counter ${name} `)
    expect(await readFile(join(installed.modules, 'slotted-counter/dist/package/cli/LICENSES'), 'utf8')).toContain(
      'mysql2',
    )
  })

  it('the blog counts, reads, rolls up and shows its dashboard under /counter', async () => {
    const blog = await example('blog')
    const { url, inExample } = blog
    expect((await inExample('npx', 'slotted-counter', 'migrate')).stdout).toMatch(/Applied \d+/)
    await inExample('npm', 'run', 'assets')
    await wranglerDev(blog)

    const text = async (path: string, Cookie = '') => (await fetch(url + path, { headers: { Cookie } })).text()
    expect(await text('/posts/hello')).toContain('<script defer src="/counter/slotted.js"></script>')
    expect((await fetch(`${url}/counter/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')
    expect((await hit(`${url}/counter`, { Origin: url }, '/posts/hello')).headers.get('X-Hit')).toBe('counted')
    await cron(url, '* * * * *')
    await cron(url, '*/2 * * * *')
    const read = await fetch(`${url}/counter/v1/counters/page_view/${encodeURIComponent('/posts/hello')}`)
    expect(await read.json()).toMatchObject({ count: 1, total: 1, pending: 0 })

    expect((await fetch(`${url}/posts/constructor`)).status).toBe(404)

    const signedIn = await fetch(`${url}/counter/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: url, 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ token: TOKEN }),
    })
    const [cookie] = signedIn.headers.get('Set-Cookie')!.split(';')
    expect(await text('/counter?type=page_view', cookie)).toContain('<bdi>/posts/hello</bdi>')
    expect(await text('/counter/docs')).toContain(`${url}/counter/v1/increments`)

    const deployed = await inExample('npx', 'wrangler', 'deploy', '--dry-run')
    expect(deployed.stdout).toContain('--dry-run: exiting now')
  })

  it('the short links count in process', async () => {
    const links = await example('in-process')
    const { url, inExample } = links
    const mysqlUrl = new URL(new URL(links.databaseUrl).username, `${inject('mysqlUrl')}/`).href
    await run('npx', ['slotted-counter', 'migrate'], { cwd: links.directory, env: { ...env, DATABASE_URL: mysqlUrl } })
    await wranglerDev(links)
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await fetch(`${url}/docs`, { redirect: 'manual' })
      expect([status, headers.get('Location')]).toEqual([302, 'https://developers.cloudflare.com/workers/'])
    }
    expect((await fetch(`${url}/constructor`)).status).toBe(404)
    await expect.poll(async () => (await fetch(url)).json()).toEqual({ docs: '3', vitess: '0' })
    await cron(url, '* * * * *')
    expect(await (await fetch(url)).json()).toEqual({ docs: '3', vitess: '0' })
    const deployed = await inExample('npx', 'wrangler', 'deploy', '--dry-run')
    expect(deployed.stdout).toContain('--dry-run: exiting now')
  })
})
