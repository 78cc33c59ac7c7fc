import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { KillableProcess } from './killable-process.ts'
import { launchServer } from './launch-server.ts'

const DATABASE = 'counter.db'

/** A private web-counter (PyPI), started as its own command starts it, without its limit of 60 hits a minute from one address. */
export class WebCounter {
  /** Where it counts hits. */
  readonly url: string
  readonly process: KillableProcess
  readonly #directory: string

  private constructor(url: string, directory: string, process: KillableProcess) {
    this.url = url
    this.#directory = directory
    this.process = process
  }

  /**
   * @param directory for its data and log, empty
   * @throws {Error} if it does not start
   */
  static async start(directory: string): Promise<WebCounter> {
    const { stdout } = await promisify(execFile)('sh', ['-c', 'command -v web-counter'])
    const python = /^#!(\S+)/.exec(await readFile(stdout.trim(), 'utf8'))![1]!
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}/api/visit`
    const launch = () =>
      launchServer({
        name: 'web-counter',
        command: python,
        args: ['-m', 'uvicorn', 'web_counter.main:app', '--host', '127.0.0.1', '--port', port, '--log-level', 'info'],
        directory,
        marker: port,
        env: {
          ...process.env,
          COUNTER_SALT: 'bench',
          COUNTER_DB_PATH: join(directory, DATABASE),
          COUNTER_RATE_LIMIT: '1000000000',
        },
        isReady: () => fetch(new URL('/api/health', url)).then(() => true),
      })
    return new WebCounter(url, directory, new KillableProcess(launch, await launch()))
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
}
