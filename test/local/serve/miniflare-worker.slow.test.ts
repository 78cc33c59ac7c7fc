import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Unstable_RawConfig } from 'wrangler'
import { STOP_SIGNALS } from '../../../local/processes/service.ts'
import { MiniflareWorker } from '../../../local/serve/miniflare-worker.ts'
import { stateDirectory } from '../npm-script.ts'

/** Answers whether the key of its path is within the rate limits. */
const WORKER = `export default {
  async fetch({ url }, { TWO, THREE }) {
    const key = new URL(url).pathname
    const answers = [await TWO.limit({ key }), await THREE.limit({ key })]
    return Response.json(answers.map(({ success }) => success))
  }
}`

const limit = (name: string, limit: number) => ({ name, namespace_id: name, simple: { limit, period: 60 as const } })

/** @param said gets what it says */
async function started(said: string[] = []) {
  const folder = await stateDirectory()
  const script = join(folder, 'worker.js')
  await writeFile(script, WORKER)
  await mkdir(join(folder, 'assets'))
  const config = {
    compatibility_date: '2026-09-01',
    assets: { directory: join(folder, 'assets'), run_worker_first: true },
    ratelimits: [limit('TWO', 2), limit('THREE', 3)],
  } as unknown as Unstable_RawConfig
  const directory = join(folder, 'tmp')
  const say = (line: string) => void said.push(line)
  // What a start sets for its process, which other tests share.
  for (const name of ['TMPDIR', 'MINIFLARE_WORKERD_PATH', 'MINIFLARE_WORKERD_V8_FLAGS'])
    vi.stubEnv(name, process.env[name])
  onTestFinished(() => void vi.unstubAllEnvs())
  const worker = await MiniflareWorker.start({ config, script, secrets: {}, directory, say })
  onTestFinished(() => worker.stop())
  return { worker, directory }
}

async function answer(worker: MiniflareWorker, path: string): Promise<unknown> {
  const sent = http.get(worker.at(path)!, { path: `http://localhost${path}` })
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
  return JSON.parse(await text(response))
}

it('Rate limits are those of their bindings, and nothing of a visitor is on disk', async () => {
  const { worker, directory } = await started()
  // Ten, because a minute may begin in between.
  const answers = []
  for (let i = 0; i < 10; i++) answers.push(await answer(worker, '/203.0.113.77'))
  expect(answers[0]).toEqual([true, true])
  expect(answers[1]).toEqual([true, true])
  expect(answers).toContainEqual([false, false])
  expect(await answer(worker, '/203.0.113.78')).toEqual([true, true])
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())
  for (const { parentPath, name } of files) {
    expect(await readFile(join(parentPath, name), 'latin1'), name).not.toContain('203.0.113.')
  }
})

it("This process keeps its own listeners to signals, and gets none of Miniflare's", async () => {
  const listeners = () => STOP_SIGNALS.map((signal) => process.listeners(signal))
  const own = () => {}
  process.on('SIGTERM', own)
  onTestFinished(() => void process.removeListener('SIGTERM', own))
  const before = listeners()
  await started()
  // The first one is not stopped yet, so Miniflare adds no listeners.
  await started()
  expect(listeners()).toEqual(before)
})

it('A stop during a restart waits for it, and leaves nothing running', async () => {
  const said: string[] = []
  const { worker } = await started(said)
  const runs = async () => {
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'pid=,args=', '--ppid', String(process.pid)])
    return stdout.split('\n').filter((line) => line.includes('workerd serve'))
  }
  const [run = ''] = await runs()
  process.kill(Number.parseInt(run, 10), 'SIGKILL')
  await expect.poll(() => said.at(-1), { interval: 10 }).toContain('Restarting it in 1 s')
  await setTimeout(1_001)
  // The restart has begun, and is not over.
  expect(said.at(-1)).toContain('Restarting it in 1 s')
  await worker.stop()
  expect(said.at(-1)).toBe('The Worker is running again.')
  expect(worker.at('/')).toBe(null)
  expect(await runs()).toEqual([])
})
