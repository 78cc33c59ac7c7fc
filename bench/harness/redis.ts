import { type ChildProcess, fork } from 'node:child_process'
import { open } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../local/free-port.ts'
import { ServerProcess } from '../../local/server-process.ts'
import { end, heard } from './child.ts'

const START_MS = 10_000
const STOP_MS = 5_000

/** When Redis forces what it wrote to the disk: before it answers, or once a second. */
export type Appendfsync = 'always' | 'everysec'

/** A Redis server of its own, that writes a log of its commands, and the HTTP process in front of it. */
export class Redis {
  /** The address of the HTTP process. */
  readonly url: string
  readonly #directory: string
  readonly #port: number
  readonly #fsync: Appendfsync
  readonly #hop: ChildProcess
  #server: ServerProcess

  private constructor(
    directory: string,
    port: number,
    fsync: Appendfsync,
    server: ServerProcess,
    hop: ChildProcess,
    hopPort: number,
  ) {
    this.#directory = directory
    this.#port = port
    this.#fsync = fsync
    this.#server = server
    this.#hop = hop
    this.url = `http://127.0.0.1:${hopPort}`
  }

  /**
   * @param directory a folder of its own, for its data and its log
   * @throws {Error} if it does not come up
   */
  static async start(directory: string, fsync: Appendfsync): Promise<Redis> {
    const port = await freePort()
    const server = await launch(directory, port, fsync)
    // Detached, so that Ctrl-C in the terminal does not reach it: it ends when the channel to its parent does.
    const hop = fork(join(import.meta.dirname, 'redis-hop.ts'), [], {
      detached: true,
      env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` },
    })
    try {
      const { port: hopPort } = await heard<{ port: number }>(hop, 'The process in front of Redis')
      return new Redis(directory, port, fsync, server, hop, hopPort)
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** What all keys hold together. */
  async sum(): Promise<number> {
    return Number(await (await fetch(this.url)).text())
  }

  /** Has every n-th answer cut off after its command was run; 0: none. */
  async cutAnswers(every: number): Promise<void> {
    const done = heard(this.#hop, 'The process in front of Redis')
    this.#hop.send({ cutEvery: every })
    await done
  }

  /** Ends the server as kill -9 does, and starts it again on what it left. */
  async killAndRestart(): Promise<void> {
    process.kill(this.#server.pid, 'SIGKILL')
    await this.#server.ended
    this.#server = await launch(this.#directory, this.#port, this.#fsync)
  }

  async stop(): Promise<void> {
    await end(this.#hop)
    await this.#server.stop()
  }
}

async function launch(directory: string, port: number, fsync: Appendfsync): Promise<ServerProcess> {
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
  for (const began = Date.now(); !(await answers(port)); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() - began < START_MS) continue
    await server.stop()
    throw new Error(`redis-server did not come up within ${START_MS} ms.`)
  }
  return server
}

/** Whether Redis has read its data and takes commands. */
function answers(port: number): Promise<boolean> {
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
