import { open, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../../local/processes/free-port.ts'
import { ServerProcess } from '../../../local/processes/server-process.ts'
import { PROJECT } from '../../../local/project-root.ts'
import { logTail } from '../../../local/worker/workerd.ts'
import { childrenOf, cpuMicros, memoryMiB } from '../../harness/process-usage.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'

const START_MS = 120_000
const STOP_MS = 30_000
const POLL_MS = 5

/** The commands that run the counter on one machine. */
const COMMANDS = { serve: 'local/serve/serve.ts', 'npm start': 'local/start.ts' } as const
export type Command = keyof typeof COMMANDS

/** A hit, and the headers of the browser that sends it. */
const HIT = '/hit?type=page_view&key=%2Fblog%2Fhello'
const HEADERS = {
  Origin: 'https://example.com',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0',
}

/** The counter as one of the commands runs it, in a separate folder, with a database on the testbed’s server. */
export class LocalCounter {
  /** The address of a hit. */
  readonly hit: string
  readonly headers = HEADERS
  readonly #start: () => Promise<ServerProcess>
  readonly #directory: string
  #server: ServerProcess

  private constructor(hit: string, directory: string, start: () => Promise<ServerProcess>, server: ServerProcess) {
    this.hit = hit
    this.#directory = directory
    this.#start = start
    this.#server = server
  }

  /** Starts it, and waits until it has counted a hit. @throws {Error} if it does not count */
  static async start(testbed: Testbed, command: Command, database: string): Promise<LocalCounter> {
    const directory = await testbed.newDirectory()
    await writeFile(join(directory, 'wrangler.toml'), await settings())
    for (const name of ['src', 'dist']) await symlink(join(PROJECT, name), join(directory, name))
    const [port, demoPort] = [await freePort(), await freePort()]
    const env = {
      ...process.env,
      API_TOKEN: 'a-token-for-the-owner-of-one-machine',
      MYSQL_URL: `${testbed.server().url}/${database}`,
      PORT: String(port),
      DEMO_PORT: String(demoPort),
      STATE_DIR: join(directory, 'data'),
    }
    const start = async () => {
      const log = await open(join(directory, 'workerd.log'), 'a')
      try {
        // npm would stop it when npm ends: it runs without npm here.
        const { npm_lifecycle_event: _, ...rest } = env as NodeJS.ProcessEnv
        return await ServerProcess.start({
          name: 'counter',
          // The command's folder is the current one.
          command: 'sh',
          args: ['-c', 'cd "$0" && exec "$@"', directory, process.execPath, join(PROJECT, COMMANDS[command])],
          records: directory,
          marker: directory,
          output: log.fd,
          graceMs: STOP_MS,
          env: rest,
        })
      } finally {
        await log.close()
      }
    }
    const counter = new LocalCounter(`http://127.0.0.1:${port}${HIT}`, directory, start, await start())
    try {
      await counter.untilCounted(testbed.signal)
      return counter
    } catch (error) {
      await counter.stop()
      throw error
    }
  }

  /** Sends hits until one is counted. */
  async untilCounted(signal: AbortSignal): Promise<void> {
    for (const began = Date.now(); ; await setTimeout(POLL_MS)) {
      signal.throwIfAborted()
      const hit = await fetch(this.hit, { method: 'POST', headers: HEADERS }).then(
        (response) => response.headers.get('x-hit'),
        () => null,
      )
      if (hit === 'counted') return
      if (this.#server.hasEnded || Date.now() - began > START_MS)
        throw new Error(`Nothing is counted. ${await logTail(this.#directory)}`)
    }
  }

  /** The ids of its processes, and the command line of each. */
  async #processes(): Promise<{ pid: number; args: string }[]> {
    const found: { pid: number; args: string }[] = []
    for (const open = [this.#server.pid]; open.length > 0; ) {
      const pid = open.pop()!
      const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
      if (args === null) continue
      found.push({ pid, args })
      open.push(...(await childrenOf(pid)))
    }
    return found
  }

  /** The processor time of all of its processes, in microseconds; `null` where there is no /proc. */
  async cpuMicros(): Promise<number | null> {
    let sum = 0
    for (const { pid } of await this.#processes()) sum += (await cpuMicros(pid)) ?? 0
    return sum === 0 ? null : sum
  }

  /** The memory of all of its processes in MiB. Those of the database are not its own. */
  async memoryMiB(): Promise<number | null> {
    const running = (await this.#processes()).filter(({ args }) => !args.startsWith('sleep'))
    return memoryMiB(running.map(({ pid }) => pid))
  }

  /** Ends workerd with SIGKILL. */
  async killWorker(): Promise<void> {
    const workerd = (await this.#processes()).find(({ args }) => /workerd\0.*serve/.test(args))
    if (workerd === undefined) throw new Error('There is no workerd to kill.')
    process.kill(workerd.pid, 'SIGKILL')
  }

  /** Ends the command with SIGKILL, and starts it again at once. */
  async killAndRestart(): Promise<void> {
    process.kill(this.#server.pid, 'SIGKILL')
    await this.#server.ended
    this.#server = await this.#start()
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }
}

/** wrangler.toml without rate limits, which all of the load would share, and without a command that only works in this folder. */
async function settings(): Promise<string> {
  const text = await readFile(join(PROJECT, 'wrangler.toml'), 'utf8')
  return text.replaceAll(/^\[build\]\n(?:.+\n)+/gm, '').replaceAll(/^\[\[ratelimits\]\]\n(?:.+\n)+/gm, '')
}
