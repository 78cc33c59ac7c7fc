import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { takeDatabase } from '../harness/taken-databases.ts'
import { count, hit, PRIVATE } from '../local/newcomer.ts'
import { alive, NpmScript, saying } from '../local/npm-script.ts'
import { packNextVersion } from '../local/packed-package.ts'
import { StandInAccount } from '../local/stand-in-account.ts'
import { chromiumOfFile } from './chromium.ts'
import { answerOf } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const run = promisify(execFile)
// The project's Node, because wrangler refuses older ones.
const env = { ...process.env, ...PRIVATE, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

describe('From an empty folder, with the packed package and nothing else', { timeout: 300_000 }, () => {
  const browser = chromiumOfFile()
  let packed: string
  let folder: string
  let began: number
  const install = (file: string) => run('npm', ['install', '--no-audit', '--no-fund', file], { cwd: folder, env })
  const init = (...args: string[]) => {
    return run('npm', ['exec', '--yes', `--package=${packed}`, '--', 'slotted-counter', 'init', ...args], {
      cwd: dirname(folder),
      env,
    })
  }
  const script = (name: string, more: NodeJS.ProcessEnv = {}) =>
    new NpmScript(['--prefix', folder, 'run', name], { ...env, ...more })

  const startDev = async () => {
    const port = String(await freePort())
    const dev = script('dev', { PORT: port })
    await dev.printed(/Ctrl-C stops everything/)
    return { dev, url: `http://127.0.0.1:${port}` }
  }
  const stopDev = async (dev: NpmScript) => {
    const processes = await dev.processes()
    await dev.pressCtrlC()
    await dev.ended
    expect(dev.output).toContain('nothing is left running')
    expect(await alive(processes)).toEqual([])
  }
  beforeAll(async () => {
    const empty = join(inject('scratch'), 'own-worker')
    await mkdir(empty)
    packed = await answerOf(inject('packedPackage'))
    folder = join(empty, 'my-counter')
    began = performance.now()
    expect((await init('my-counter', '--sites', 'https://blog.example')).stdout).toContain('npm run dev')
    // Until the package is on npm, it comes from the file.
    await install(packed)
  })

  it('init writes a Worker that counts on a real local database, and that check and wrangler accept', async () => {
    await expect(init('my-counter', '--sites', 'https://blog.example')).rejects.toThrow('my-counter is not empty')
    const { dev, url } = await startDev()
    // On a page of another origin.
    const site = await startSite({
      '/blog/hello': { html: `<script defer src="${url}/slotted.js" data-local></script>` },
    })
    await (await (await browser.newContext()).newPage()).goto(`${site.url}/blog/hello`)
    await expect.poll(() => count(url)).toMatchObject({ count: 1 })
    console.log(`From init to the first counted hit: ${Math.round(performance.now() - began)} ms`)
    expect((await fetch(`${url}/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')
    const status = await fetch(`${url}/v1/status`, { headers: { Authorization: 'Bearer local' } })
    expect(status.status).toBe(200)

    const check = script('check')
    expect(await check.outcome()).toMatchObject({ code: 0, output: expect.stringContaining('no mistakes') })
    const { stdout } = await run('npx', ['wrangler', 'deploy', '--dry-run'], { cwd: folder, env })
    expect(stdout).toContain('--dry-run: exiting now')

    await stopDev(dev)
  })

  it('check, dev and deploy name a wrong setting, with its line', async () => {
    const file = join(folder, 'wrangler.toml')
    const right = await readFile(file, 'utf8')
    await writeFile(file, right.replace('PLAN = "free"', 'PLAN = "pro"'))
    const line = right.split('\n').indexOf('PLAN = "free"') + 1
    for (const name of ['check', 'dev', 'deploy']) {
      const said = expect.stringContaining(`wrangler.toml:${line}: PLAN must be "free" or "paid"`)
      expect(await script(name).outcome()).toEqual({ code: 1, output: said })
    }
    await writeFile(file, right)
  })

  it('deploy stores secrets, makes tables and waits for the first hit; the next version keeps all', async () => {
    const account = await StandInAccount.start(folder, onTestFinished)
    const { url } = account
    const missing = await script('deploy', { DATABASE_URL: '' }).outcome()
    expect(missing).toEqual(saying(1, 'DATABASE_URL is missing: https://USER:PASSWORD@HOST'))

    const { databaseUrl } = await takeDatabase({ empty: true })
    const first = script('deploy', { DATABASE_URL: databaseUrl, CI: '' })
    await first.printed(/Waiting for the first hit/)
    expect(first.output).toContain('Made the tables: 0001_')
    expect(first.output).toContain(`<script defer src="${url}/slotted.js"></script>`)
    const token = account.secrets.get('API_TOKEN')!
    expect(first.output).toContain(token)
    expect(account.secrets.get('DATABASE_URL')).toBe(databaseUrl)
    expect((await hit(url)).headers.get('X-Hit')).toBe('ignored; reason=origin')
    await first.printed(/A hit was not counted/)
    expect((await hit(url, { Origin: 'https://blog.example' })).headers.get('X-Hit')).toBe('counted')
    expect(await first.outcome()).toEqual(saying(0, 'It counts: /blog/hello'))

    const secrets = new Map(account.secrets)
    const again = await script('deploy').outcome()
    expect(again).toEqual(saying(1, `${url} is up. Its tables were not migrated`))

    await install(await packNextVersion(packed))
    const upgrade = await script('deploy', { API_TOKEN: token }).outcome()
    expect(upgrade).toEqual(saying(0, /Made the tables: 9999_next_version[\s\S]*It counts: \/blog\/hello/))
    expect(account.secrets).toEqual(secrets)
    expect(account.deployments).toBe(4)
    expect(await count(url)).toMatchObject({ count: 1 })
  })
})
