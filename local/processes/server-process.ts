import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { readJsonFile, writePrivately } from './private-file.ts'

/** Milliseconds that a process may take to end after SIGKILL. */
const KILL_MS = 5_000
const MAX_TABLE_BYTES = 64 * 1024 * 1024

/** Compiled in the package. */
const STOP_WITH_PARENT = join(import.meta.dirname, `stop-with-parent${extname(import.meta.filename)}`)

/** How to start a process. */
export interface ProcessOptions {
  /** Its name in messages and in the name of its record. */
  name: string
  command: string
  args: readonly string[]
  /** Folder for the record `NAME.pid.json`, by which a later start finds a process that an earlier one left running. */
  records: string
  /** A text in the command line of the process. It tells the process from another one that got the same id later. */
  marker: string
  /** A file descriptor for standard output and error, or `pipe` to read them here. */
  output: number | 'pipe'
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs: number
  env?: NodeJS.ProcessEnv
}

/** The content of `NAME.pid.json`. */
type ProcessRecord = Pick<ProcessOptions, 'marker' | 'graceMs'> & { pid: number }

/** A server process that ends when this process ends, kill -9 included. */
export class ServerProcess {
  /** Resolves with the exit code when the process has ended for any reason. */
  readonly ended: Promise<number>
  /** Standard output and error, if they are piped. */
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** The id of the process and of its process group. */
  readonly pid: number
  /** Runs stop-with-parent.ts. */
  readonly #runner: ChildProcess
  readonly #record: string

  private constructor(runner: ChildProcess, pid: number, record: string) {
    this.stdout = runner.stdout
    this.stderr = runner.stderr
    this.#runner = runner
    this.pid = pid
    this.#record = record
    this.ended = once(runner, 'exit').then(([code]) => code ?? 1)
  }

  /** @throws {Error} if the command cannot be run */
  static async start(options: ProcessOptions): Promise<ServerProcess> {
    const { name, command, args, records, marker, output, graceMs, env } = options
    const runner = fork(STOP_WITH_PARENT, [String(graceMs), command, ...args], {
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
      ...(env && { env }),
    })
    const record = join(records, `${name}.pid.json`)
    const pid = await new Promise<number>((resolve, reject) => {
      runner.once('message', (message: { pid?: number; error?: string }) => {
        if (message.pid !== undefined) resolve(message.pid)
        else reject(new Error(`${command} cannot be run: ${message.error}`))
      })
      runner.once('error', reject)
      runner.once('exit', (code) => reject(new Error(`${command} ended at once, with exit code ${code}`)))
    })
    // Before the record is written, to notice if the process ends in the meantime.
    const server = new ServerProcess(runner, pid, record)
    try {
      await mkdir(records, { recursive: true })
      await writePrivately(record, JSON.stringify({ pid, marker, graceMs } satisfies ProcessRecord))
    } catch (error) {
      await server.stop().catch(() => {})
      throw error
    }
    return server
  }

  get hasEnded(): boolean {
    return this.#runner.exitCode !== null || this.#runner.signalCode !== null
  }

  /** Ends the process and its process group with SIGKILL, as a crash would. */
  async kill(): Promise<void> {
    process.kill(-this.pid, 'SIGKILL')
    await this.ended
  }

  /** Stops the process and its process group, and waits until they have ended. */
  async stop(): Promise<void> {
    if (this.#runner.exitCode === null) this.#runner.kill('SIGTERM')
    await this.ended
    await rm(this.#record, { force: true })
  }
}

/**
 * Ends a process that an earlier start left running, and waits until it has ended. There is one if that start was killed a
 * moment ago, or was killed together with stop-with-parent.ts, as `killall -9 node` does.
 *
 * @returns whether there was one
 */
export async function endLeftover(records: string, name: string): Promise<boolean> {
  const file = join(records, `${name}.pid.json`)
  const earlier = await readJsonFile<ProcessRecord>(file)
  if (earlier === null) return false
  const { pid, marker, graceMs } = earlier
  const found = await groupMembers(pid, marker)
  const deadline = Date.now() + graceMs
  let signal: NodeJS.Signals = 'SIGTERM'
  for (let members = found; members.length > 0; members = await groupMembers(pid, marker)) {
    try {
      process.kill(-pid, signal)
    } catch {
      // It has ended in the meantime.
    }
    if (Date.now() > deadline) signal = 'SIGKILL'
    if (Date.now() > deadline + KILL_MS) {
      throw new Error(
        `Process ${members.join(', ')} (${name}) of an earlier start could not be stopped. Stop it yourself and try again.`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await rm(file, { force: true })
  return found.length > 0
}

/**
 * The processes of a group whose command lines hold a text, and those that are ending: they have lost their command lines
 * already, but may still hold ports. Without `ps`, which small systems lack, none are found.
 */
async function groupMembers(group: number, marker: string): Promise<number[]> {
  const columns = ['-o', 'pid=,pgid=,stat=,args=']
  // Without a locale, Linux's `ps` writes question marks for letters that are not ASCII.
  const env = { ...process.env, ...(process.platform === 'linux' && { LC_ALL: 'C.UTF-8' }) }
  const table = await promisify(execFile)('ps', ['-A', '-ww', ...columns], { maxBuffer: MAX_TABLE_BYTES, env })
    .then(({ stdout }) => stdout)
    .catch(() => '')
  return table.split('\n').flatMap((line) => {
    const [pid, itsGroup, state, program] = line.trim().split(/\s+/)
    // `ps` puts the name in brackets if there is no command line. A zombie has ended, unless it has threads left (`l`).
    const ending = program?.startsWith('[') && !/^Z[^l]*$/.test(state!)
    return Number(itsGroup) === group && (ending || line.includes(marker)) ? [Number(pid)] : []
  })
}
