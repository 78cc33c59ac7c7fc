import { type ChildProcess, execFile, fork } from 'node:child_process'
import { open } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { killProcess, nextMessage } from './child-messages.ts'

const START_MS = 10_000
const STOP_MS = 5_000

/** When Redis flushes its log to disk: before each response, or once a second. */
export type AppendFsync = 'always' | 'everysec'

/** A private Redis server that logs its writes, and the HTTP proxy in front of it. */
export class Redis {
  /** The address of the HTTP proxy. */
  readonly url: string
  readonly #place: Place
  readonly #proxy: ChildProcess
  #server: ServerProcess

  private constructor(place: Place, server: ServerProcess, proxy: ChildProcess, proxyPort: number) {
    this.#place = place
    this.#server = server
    this.#proxy = proxy
    this.url = `http://127.0.0.1:${proxyPort}`
  }

  /**
   * @param directory for its data and its log, empty
   * @throws {Error} if it does not start
   */
  static async start(directory: string, fsync: AppendFsync): Promise<Redis> {
    const port = await freePort()
    const place = { directory, port, fsync }
    const server = await launch(place)
    // Detached, so that Ctrl-C in the terminal does not reach it. It exits when the channel to its parent closes.
    const proxy = fork(join(import.meta.dirname, 'redis-http-proxy.ts'), [], {
      detached: true,
      env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` },
    })
    try {
      const { port: proxyPort } = await nextMessage<{ port: number }>(proxy, 'The Redis proxy')
      return new Redis(place, server, proxy, proxyPort)
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** The id of the server's process. */
  get pid(): number {
    return this.#server.pid
  }

  /** The sum of all keys. */
  async sum(): Promise<number> {
    return Number(await (await fetch(this.url)).text())
  }

  /** Its memory, and its log after it was rewritten. */
  async usage(): Promise<{ memoryBytes: number; diskBytes: number }> {
    const cli = async (...args: string[]) =>
      (await promisify(execFile)('redis-cli', ['-p', String(this.#place.port), ...args])).stdout
    const figure = async (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await cli('INFO'))?.[1])
    await cli('BGREWRITEAOF')
    while ((await figure('aof_rewrite_in_progress')) + (await figure('aof_rewrite_scheduled')) > 0) await setTimeout(20)
    return { memoryBytes: await figure('used_memory'), diskBytes: await figure('aof_current_size') }
  }

  /** Ends the server with SIGKILL, and starts it again on the same data. */
  async killAndRestart(): Promise<void> {
    await this.#server.kill()
    this.#server = await launch(this.#place)
  }

  async stop(): Promise<void> {
    await killProcess(this.#proxy)
    await this.#server.stop()
  }
}

interface Place {
  directory: string
  port: number
  fsync: AppendFsync
}

async function launch({ directory, port, fsync }: Place): Promise<ServerProcess> {
  const log = await open(join(directory, 'redis.log'), 'a')
  const server = await ServerProcess.start({
    name: 'redis',
    command: 'redis-server',
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', fsync, '--daemonize', 'no'],
    ],
    records: directory,
    marker: directory,
    output: log.fd,
    graceMs: STOP_MS,
  })
  await log.close()
  for (const began = Date.now(); !(await isReady(port)); await setTimeout(20)) {
    if (Date.now() - began < START_MS) continue
    await server.stop()
    throw new Error(`redis-server did not start within ${START_MS} ms.`)
  }
  return server
}

/** Whether Redis has loaded its data and accepts commands. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.setTimeout(1_000, () => socket.destroy())
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('+PONG'))
      socket.destroy()
    })
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
}
