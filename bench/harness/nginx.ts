import { execFile } from 'node:child_process'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { ServerProcess } from '../../local/processes/server-process.ts'

const START_MS = 10_000
const STOP_MS = 5_000
const PIXEL = '/hit.gif'

/** A private nginx that serves a pixel and writes an access log, unbuffered as by default. GoAccess counts its lines. */
export class Nginx {
  /** The address of the pixel. */
  readonly url: string
  readonly #directory: string
  #server: ServerProcess

  private constructor(url: string, directory: string, server: ServerProcess) {
    this.url = url
    this.#directory = directory
    this.#server = server
  }

  /**
   * @param directory for its settings and logs, empty
   * @throws {Error} if it does not start
   */
  static async start(directory: string): Promise<Nginx> {
    const port = await freePort()
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${of};`)
    await writeFile(
      join(directory, 'nginx.conf'),
      `daemon off; pid nginx.pid; worker_processes auto;
events { worker_connections 1024; }
http {
  access_log access.log combined; ${temporary.join(' ')}
  keepalive_requests 100000000;
  server { listen 127.0.0.1:${port}; location = ${PIXEL} { empty_gif; } location / { return 404; } }
}
`,
    )
    const url = `http://127.0.0.1:${port}${PIXEL}`
    return new Nginx(url, directory, await launch(directory, url))
  }

  /** The ids of its processes: the master and its workers. */
  async pids(): Promise<number[]> {
    const { pid } = this.#server
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]
  }

  /** The hits in its log, and how long GoAccess took to count them. */
  async hits(): Promise<{ hits: number; milliseconds: number }> {
    const report = join(this.#directory, 'report.json')
    const began = performance.now()
    await promisify(execFile)('goaccess', [
      ...[join(this.#directory, 'access.log'), '--log-format=COMBINED', '--no-global-config'],
      ...['--no-progress', `--output=${report}`],
    ])
    const milliseconds = performance.now() - began
    const { requests } = JSON.parse(await readFile(report, 'utf8')) as {
      requests: { data: { data: string; hits: { count: number } }[] }
    }
    const ofPixel = requests.data.filter(({ data }) => data.startsWith(PIXEL))
    return { hits: ofPixel.reduce((sum, { hits }) => sum + hits.count, 0), milliseconds }
  }

  /** Bytes of its log. */
  async historyBytes(): Promise<number> {
    return (await stat(join(this.#directory, 'access.log'))).size
  }

  /** Ends all of its processes with SIGKILL, and starts it again with the same log. */
  async killAndRestart(): Promise<void> {
    await this.#server.kill()
    this.#server = await launch(this.#directory, this.url)
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }
}

async function launch(directory: string, url: string): Promise<ServerProcess> {
  const log = await open(join(directory, 'error.log'), 'a')
  const server = await ServerProcess.start({
    name: 'nginx',
    command: 'nginx',
    args: ['-p', directory, '-c', 'nginx.conf', '-e', 'error.log'],
    records: directory,
    marker: directory,
    output: log.fd,
    graceMs: STOP_MS,
  })
  await log.close()
  // Another path than the pixel's, which would count.
  await untilAnswered(new URL('/', url), server, 'nginx')
  return server
}

/** Waits until a server answers. @throws {Error} if it does not within 10 s. It is stopped then. */
export async function untilAnswered(url: URL, server: ServerProcess, name: string): Promise<void> {
  const probe = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  for (const began = Date.now(); !(await probe()); await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (Date.now() - began < START_MS) continue
    await server.stop()
    throw new Error(`${name} did not start within ${START_MS} ms.`)
  }
}
