import { execFile } from 'node:child_process'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { untilAnswered } from './nginx.ts'

const STOP_MS = 5_000
const DATABASE = 'counter.db'

/** A private web-counter (PyPI), started as its own command starts it, without its limit of 60 hits a minute from one address. */
export class WebCounter {
  /** Where it counts hits. */
  readonly url: string
  readonly #directory: string
  #server: ServerProcess

  private constructor(url: string, directory: string, server: ServerProcess) {
    this.url = url
    this.#directory = directory
    this.#server = server
  }

  /**
   * @param directory for its data and log, empty
   * @throws {Error} if it does not start
   */
  static async start(directory: string): Promise<WebCounter> {
    const url = `http://127.0.0.1:${await freePort()}/api/visit`
    return new WebCounter(url, directory, await launch(directory, url))
  }

  async pids(): Promise<number[]> {
    return [this.#server.pid]
  }

  /** The hits in its database. */
  async hits(): Promise<{ hits: number; milliseconds: number }> {
    const began = performance.now()
    const answer = await fetch(new URL('/api/count', this.url))
    const { site_pv: hits } = (await answer.json()) as { site_pv: number }
    return { hits, milliseconds: performance.now() - began }
  }

  /** Bytes of the pages of its database. Its log of writes is moved into it first. */
  async historyBytes(): Promise<number> {
    const database = new DatabaseSync(join(this.#directory, DATABASE))
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      const { page_count, page_size } = database.prepare('SELECT * FROM pragma_page_count, pragma_page_size').get()!
      return Number(page_count) * Number(page_size)
    } finally {
      database.close()
    }
  }

  /** Ends it with SIGKILL, and starts it again on the same data. */
  async killAndRestart(): Promise<void> {
    await this.#server.kill()
    this.#server = await launch(this.#directory, this.url)
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }
}

async function launch(directory: string, url: string): Promise<ServerProcess> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'command -v web-counter'])
  const python = /^#!(\S+)/.exec(await readFile(stdout.trim(), 'utf8'))![1]!
  const { port } = new URL(url)
  const log = await open(join(directory, 'web-counter.log'), 'a')
  const server = await ServerProcess.start({
    name: 'web-counter',
    command: python,
    args: ['-m', 'uvicorn', 'web_counter.main:app', '--host', '127.0.0.1', '--port', port, '--log-level', 'info'],
    records: directory,
    marker: port,
    output: log.fd,
    graceMs: STOP_MS,
    env: {
      ...process.env,
      COUNTER_SALT: 'bench',
      COUNTER_DB_PATH: join(directory, DATABASE),
      COUNTER_RATE_LIMIT: '1000000000',
    },
  })
  await log.close()
  await untilAnswered(new URL('/api/health', url), server, 'web-counter')
  return server
}
