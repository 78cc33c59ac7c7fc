import { type ChildProcess, execFile, fork } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { killProcess, nextMessage } from './child-messages.ts'
import { KillableProcess } from './killable-process.ts'
import { launchServer } from './launch-server.ts'

/** When Redis flushes its log to disk: before each response, or once a second. */
export type AppendFsync = 'always' | 'everysec'

/** A private Redis server that logs its writes, and the HTTP proxy in front of it. */
export class Redis {
  /** The address of the HTTP proxy. */
  readonly url: string
  readonly process: KillableProcess
  readonly #port: number
  readonly #proxy: ChildProcess

  private constructor(process: KillableProcess, port: number, proxy: ChildProcess, proxyPort: number) {
    this.process = process
    this.#port = port
    this.#proxy = proxy
    this.url = `http://127.0.0.1:${proxyPort}`
  }

  /**
   * @param directory for its data and its log, empty
   * @throws {Error} if it does not start
   */
  static async start(directory: string, fsync: AppendFsync): Promise<Redis> {
    const port = await freePort()
    const launch = () =>
      launchServer({
        name: 'redis-server',
        command: 'redis-server',
        args: [
          ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', ''],
          ...['--appendonly', 'yes', '--appendfsync', fsync, '--daemonize', 'no'],
        ],
        directory,
        marker: directory,
        isReady: () => isReady(port),
      })
    const server = new KillableProcess(launch, await launch())
    // Detached, so that Ctrl-C in the terminal does not reach it. It exits when the channel to its parent closes.
    const proxy = fork(join(import.meta.dirname, 'redis-http-proxy.ts'), [], {
      detached: true,
      env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` },
    })
    try {
      const { port: proxyPort } = await nextMessage<{ port: number }>(proxy, 'The Redis proxy')
      return new Redis(server, port, proxy, proxyPort)
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** The sum of all keys. */
  async sum(): Promise<number> {
    return Number(await (await fetch(this.url)).text())
  }

  /** Its memory, and its log after it was rewritten. */
  async usage(): Promise<{ memoryBytes: number; diskBytes: number }> {
    const cli = async (...args: string[]) =>
      (await promisify(execFile)('redis-cli', ['-p', String(this.#port), ...args])).stdout
    const figure = async (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await cli('INFO'))?.[1])
    await cli('BGREWRITEAOF')
    while ((await figure('aof_rewrite_in_progress')) + (await figure('aof_rewrite_scheduled')) > 0) await setTimeout(20)
    return { memoryBytes: await figure('used_memory'), diskBytes: await figure('aof_current_size') }
  }

  async stop(): Promise<void> {
    await killProcess(this.#proxy)
    await this.process.stop()
  }
}

/** Whether Redis has loaded its data and accepts commands. */
async function isReady(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(1_000, () => socket.destroy())
  socket.write('PING\r\n')
  for await (const reply of socket) return String(reply).startsWith('+PONG')
  return false
}
