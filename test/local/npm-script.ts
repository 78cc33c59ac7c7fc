import { type ChildProcess, execFile, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, onTestFinished } from 'vitest'
import { freePort } from '../../local/processes/free-port.ts'
import { takeDatabase } from '../harness/taken-databases.ts'

const run = promisify(execFile)

/** The root folder of the project. */
export const PROJECT = resolve(import.meta.dirname, '../..')

/** Registers a clean-up for the end of a test or of a suite. */
export type Finally = (cleanUp: () => Promise<void>) => void

/** The clean-ups at the end of a file or of a suite, in which it is called. The last one comes first. */
export function atEndOfSuite(): Finally {
  const cleanUps: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })
  return (cleanUp) => void cleanUps.unshift(cleanUp)
}

/** Creates a state directory that is removed at the end. */
export async function stateDirectory(atEnd: Finally = onTestFinished): Promise<string> {
  const directory = await mkdtemp(join(inject('scratch'), 'state-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A running npm script, started as a person starts it. It is stopped at the end of the test. */
export class NpmScript {
  /** Its standard input. */
  readonly input: NodeJS.WritableStream
  /** All output so far. */
  output = ''
  /** Its exit code; `null` while it is running. */
  exitCode: number | null = null
  readonly ended: Promise<number | null>
  readonly #runner: ChildProcess
  readonly #started: Promise<number>

  /** @param args the arguments of `npm` */
  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}, atEnd: Finally = onTestFinished) {
    this.#runner = fork(join(PROJECT, 'local/processes/stop-with-parent.ts'), ['30000', 'npm', ...args], {
      cwd: PROJECT,
      env: { ...process.env, ...env },
      // Not in the process group of the test runner, which is killed as a whole when it is interrupted.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    })
    this.input = this.#runner.stdin!
    for (const stream of [this.#runner.stdout, this.#runner.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#started = new Promise((resolve) => this.#runner.once('message', ({ pid }: { pid: number }) => resolve(pid)))
    this.ended = new Promise((resolve) => {
      this.#runner.once('close', (code) => {
        this.exitCode = code
        resolve(code)
      })
    })
    atEnd(async () => {
      if (this.exitCode === null) this.#runner.kill('SIGTERM')
      await this.ended
    })
  }

  /** Presses Ctrl-C as a terminal does: npm and its whole process group receive the signal. */
  async pressCtrlC(): Promise<void> {
    process.kill(-(await this.#started), 'SIGINT')
  }

  /** Sends a signal to npm only. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.#started, signal)
  }

  /** Waits for its end. */
  async outcome(): Promise<{ code: number | null; output: string }> {
    return { code: await this.ended, output: this.output }
  }

  /** Waits for some output. */
  async printed(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.exitCode !== null) throw new Error(`the script ended without printing ${pattern}:\n${this.output}`)
      await new Promise((done) => setTimeout(done, 50))
    }
  }

  /** The process ids of npm and of all its descendants. */
  async processes(): Promise<number[]> {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
    const parents = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
    const found = [await this.#started]
    for (const ancestor of found) found.push(...parents.filter(([, parent]) => parent === ancestor).map(([pid]) => pid))
    return found
  }
}

/** An outcome whose output has a text, or matches a pattern. */
export function saying(code: number, text: string | RegExp) {
  return { code, output: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text) }
}

/** Runs `npm start` and waits until everything is up. */
export async function npmStart(
  env: NodeJS.ProcessEnv,
  atEnd: Finally = onTestFinished,
): Promise<{ service: NpmScript; url: string; port: string }> {
  const port = String(env.PORT ?? (await freePort()))
  const service = new NpmScript(['start'], { ...env, PORT: port }, atEnd)
  await service.printed(/Ctrl-C stops everything/)
  return { service, url: `http://127.0.0.1:${port}`, port }
}

/** Runs `npm start` with the token `local`, on a new database of the server of the test run. */
export async function npmStartOnServer(atEnd: Finally): Promise<{ url: string; mysqlUrl: string; folder: string }> {
  const { name } = await takeDatabase({ empty: true })
  const mysqlUrl = `${inject('mysqlUrl')}/${name}`
  const folder = await stateDirectory(atEnd)
  const { url } = await npmStart({ MYSQL_URL: mysqlUrl, STATE_DIR: folder, API_TOKEN: 'local' }, atEnd)
  return { url, mysqlUrl, folder }
}

/** The lines of `ps` for those of some processes that are still running. */
export async function alive(pids: readonly number[]): Promise<string[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,stat=,args='])
  return stdout.split('\n').filter((line) => {
    const [pid, state] = line.trim().split(/\s+/)
    return pids.includes(Number(pid)) && !state?.startsWith('Z')
  })
}
