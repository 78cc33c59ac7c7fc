import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../local/processes/free-port.ts'
import { KillableProcess } from './killable-process.ts'
import { launchServer } from './launch-server.ts'

const PIXEL = '/hit.gif'

/** A private nginx that serves a pixel and writes an access log, unbuffered as by default. GoAccess counts its lines. */
export class Nginx {
  /** The address of the pixel. */
  readonly url: string
  readonly process: KillableProcess
  readonly #directory: string

  private constructor(url: string, directory: string, process: KillableProcess) {
    this.url = url
    this.#directory = directory
    this.process = process
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
    const launch = () =>
      launchServer({
        name: 'nginx',
        command: 'nginx',
        args: ['-p', directory, '-c', 'nginx.conf', '-e', 'error.log'],
        directory,
        marker: directory,
        // Another path than the pixel's, which would count.
        isReady: () => fetch(new URL('/', url)).then(() => true),
      })
    return new Nginx(url, directory, new KillableProcess(launch, await launch()))
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
}
