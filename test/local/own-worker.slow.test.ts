import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { PROJECT } from '../../local/project-root.ts'
import { count, hit } from './newcomer.ts'
import { alive, type NpmScript } from './npm-script.ts'
import { env, ownWorkerOfFile, run } from './own-worker.ts'

const worker = ownWorkerOfFile('own-worker')

describe('From an empty folder, with the packed package and nothing else', { timeout: 300_000 }, () => {
  const startDev = async () => {
    const port = String(await freePort())
    const dev = worker.script('dev', { PORT: port })
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

  it('init writes a Worker that counts on a real local database, and that check and wrangler accept', async () => {
    await expect(worker.init()).resolves.toMatchObject({
      stdout: expect.stringContaining('The package is now version'),
    })
    const { dev, url } = await startDev()
    // It is README's, which needs no attribute here: see test/browser/beacon-local.test.ts.
    const [tag] = /<script defer src=.*<\/script>/.exec(await readFile(join(PROJECT, 'README.md'), 'utf8'))!
    expect(dev.output).toContain(tag.replace('https://YOUR-WORKER', url))
    // From a page of another origin.
    expect((await hit(url, { Origin: 'http://127.0.0.1:9' })).headers.get('X-Hit')).toBe('counted')
    await expect.poll(() => count(url)).toMatchObject({ count: 1 })
    console.log(`From init to the first counted hit: ${Math.round(performance.now() - worker.began)} ms`)
    expect((await fetch(`${url}/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')
    const status = await fetch(`${url}/v1/status`, { headers: { Authorization: 'Bearer local' } })
    expect(status.status).toBe(200)

    const check = worker.script('check')
    expect(await check.outcome()).toMatchObject({ code: 0, output: expect.stringContaining('no mistakes') })
    const { stdout } = await run('npx', ['wrangler', 'deploy', '--dry-run'], { cwd: worker.folder, env })
    expect(stdout).toContain('--dry-run: exiting now')

    await stopDev(dev)
  })

  it('serve counts for good, with a private database and the sites of wrangler.toml', async () => {
    const port = String(await freePort())
    const serve = worker.script('serve', { PORT: port, API_TOKEN: 'a-token-of-the-owner' })
    await serve.printed(/"event":"serve_started"/)
    const url = `http://127.0.0.1:${port}`
    const said = async (Origin: string) => (await hit(url, { Origin })).headers.get('X-Hit')
    expect(await said('https://blog.example')).toBe('counted')
    expect(await said('https://other.example')).toBe('ignored; reason=origin')
    expect(await count(url)).toMatchObject({ count: 1 })
    expect((await fetch(`${url}/slotted.js`)).headers.get('Content-Type')).toContain('text/javascript')
    const processes = await serve.processes()
    await serve.pressCtrlC()
    await serve.ended
    expect(serve.output).toContain('"event":"serve_stopped"')
    await expect.poll(() => alive(processes)).toEqual([])
  })

  it('check, dev, serve and deploy name a wrong setting, with its line', async () => {
    const file = join(worker.folder, 'wrangler.toml')
    const right = await readFile(file, 'utf8')
    await writeFile(file, right.replace('PLAN = "free"', 'PLAN = "pro"'))
    const line = right.split('\n').indexOf('PLAN = "free"') + 1
    for (const name of ['check', 'dev', 'serve', 'deploy']) {
      const said = expect.stringContaining(`wrangler.toml:${line}: PLAN must be "free" or "paid"`)
      expect(await worker.script(name, { API_TOKEN: 'a-token-of-the-owner' }).outcome()).toEqual({
        code: 1,
        output: said,
      })
    }
    await writeFile(file, right)
  })
})
