import { type ChildProcess, execFile, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inject, onTestFinished } from 'vitest'
import { freePort } from '../../local/free-port.ts'

const run = promisify(execFile)

/** The top of the project. */
export const PROJECT = resolve(import.meta.dirname, '../..')

/** What to do when the test is over, or the suite where something belongs to all its tests. */
export type Finally = (cleanUp: () => Promise<void>) => void

/** A state directory of the test's own, removed afterwards. */
export async function stateDirectory(atEnd: Finally = onTestFinished): Promise<string> {
  const directory = await mkdtemp(join(inject('scratch'), 'state-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** An npm script that is running, as a person runs it; stopped when the test ends, however it ends. */
export class NpmScript {
  /** Its standard input. */
  readonly input: NodeJS.WritableStream
  /** Everything it has printed so far. */
  output = ''
  /** Its exit code, once it has ended. */
  exitCode: number | null = null
  readonly ended: Promise<number | null>
  readonly #leash: ChildProcess
  readonly #started: Promise<number>

  /** @param args what stands behind `npm` on the command line */
  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}, atEnd: Finally = onTestFinished) {
    this.#leash = fork(join(PROJECT, 'local/leash.ts'), ['30000', 'npm', ...args], {
      cwd: PROJECT,
      env: { ...process.env, ...env },
      // Not in the group of the test runner, which is killed as a whole when it is interrupted.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    })
    this.input = this.#leash.stdin!
    for (const stream of [this.#leash.stdout, this.#leash.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
    this.#started = new Promise((resolve) => this.#leash.once('message', ({ pid }: { pid: number }) => resolve(pid)))
    this.ended = new Promise((resolve) => {
      this.#leash.once('close', (code) => {
        this.exitCode = code
        resolve(code)
      })
    })
    atEnd(async () => {
      if (this.exitCode === null) this.#leash.kill('SIGTERM')
      await this.ended
    })
  }

  /** Presses Ctrl-C as a terminal does: npm and all it has started in its process group get the signal. */
  async pressCtrlC(): Promise<void> {
    process.kill(-(await this.#started), 'SIGINT')
  }

  /** Sends a signal to npm, and to nothing else. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.#started, signal)
  }

  /** Waits until it has printed something. */
  async printed(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.exitCode !== null) throw new Error(`it ended without printing ${pattern}:\n${this.output}`)
      await new Promise((done) => setTimeout(done, 50))
    }
  }

  /** The process ids of everything it has started, directly or not. */
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

/** Starts the service and waits until it has said what to try. */
export async function npmStart(
  env: NodeJS.ProcessEnv,
  atEnd: Finally = onTestFinished,
): Promise<{ service: NpmScript; url: string; port: string }> {
  const port = String(env.PORT ?? (await freePort()))
  const service = new NpmScript(['start'], { ...env, PORT: port }, atEnd)
  await service.printed(/Ctrl-C stops everything/)
  return { service, url: `http://127.0.0.1:${port}`, port }
}

/** Those of some processes that are still there. */
export async function alive(pids: readonly number[]): Promise<string[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,stat=,args='])
  return stdout.split('\n').filter((line) => {
    const [pid, state] = line.trim().split(/\s+/)
    return pids.includes(Number(pid)) && !state?.startsWith('Z')
  })
}
