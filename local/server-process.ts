import { type ChildProcess, fork } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processTable } from './process-table.ts'

/** How long a process may take to be gone after SIGKILL. */
const KILL_MS = 5_000

/** How to start a process. */
export interface ProcessOptions {
  /** What it is called in messages and in the record. */
  name: string
  command: string
  args: readonly string[]
  /** Folder for the record by which a later start finds what an earlier one left running. */
  records: string
  /** Text that the process's command line holds, by which it is told from a stranger that got the same id. */
  marker: string
  /** File descriptors or `pipe` for standard output and error. */
  output: number | 'pipe'
  /** Milliseconds between being asked to stop and being killed. */
  graceMs: number
  env?: NodeJS.ProcessEnv
}

interface Record {
  pid: number
  marker: string
  graceMs: number
}

/** A server that runs beside this process and ends with it, in whatever way this process ends. */
export class ServerProcess {
  readonly name: string
  /** Settles with the exit code when the process has ended, whoever ended it. */
  readonly ended: Promise<number>
  /** The leash; its standard output and error are those of the process. */
  readonly leash: ChildProcess
  /** The process itself, which leads its process group. */
  readonly pid: number
  readonly #record: string

  private constructor(name: string, leash: ChildProcess, pid: number, record: string) {
    this.name = name
    this.leash = leash
    this.pid = pid
    this.#record = record
    this.ended = new Promise((resolve) => {
      leash.once('exit', (code) => resolve(code ?? 1))
    })
  }

  /**
   * @throws {Error} if the command cannot be run
   */
  static async start(options: ProcessOptions): Promise<ServerProcess> {
    const { name, command, args, records, marker, output, graceMs, env } = options
    const leash = fork(join(import.meta.dirname, 'leash.ts'), [String(graceMs), command, ...args], {
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
      ...(env && { env }),
    })
    const record = join(records, `${name}.pid.json`)
    const pid = await new Promise<number>((resolve, reject) => {
      leash.once('message', (message: { pid?: number; error?: string }) => {
        if (message.pid !== undefined) resolve(message.pid)
        else reject(new Error(`${command} cannot be run: ${message.error}`))
      })
      leash.once('exit', (code) => reject(new Error(`${command} ended at once, with exit code ${code}`)))
    })
    // From here on, not later: it may end before its record is written.
    const server = new ServerProcess(name, leash, pid, record)
    await mkdir(records, { recursive: true })
    await writeFile(record, JSON.stringify({ pid, marker, graceMs } satisfies Record))
    return server
  }

  /** Stops the process and everything it started, and waits until they are gone. */
  async stop(): Promise<void> {
    if (this.leash.exitCode === null) this.leash.kill('SIGTERM')
    await this.ended
    await rm(this.#record, { force: true })
  }
}

/**
 * Ends what an earlier start left running: only if both it and its leash were spared by whatever killed that start.
 *
 * @returns whether there was something
 */
export async function endLeftover(records: string, name: string): Promise<boolean> {
  const file = join(records, `${name}.pid.json`)
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return false
  const { pid, marker, graceMs } = JSON.parse(text) as Record
  const found = await groupMembers(pid, marker)
  const deadline = Date.now() + graceMs
  let signal: NodeJS.Signals = 'SIGTERM'
  for (let members = found; members.length > 0; members = await groupMembers(pid, marker)) {
    for (const member of members) {
      try {
        process.kill(member, signal)
      } catch {
        // It has ended by itself since.
      }
    }
    if (Date.now() > deadline) signal = 'SIGKILL'
    if (Date.now() > deadline + KILL_MS) {
      throw new Error(
        `Process ${members.join(', ')} (${name}), left by an earlier start, cannot be ended. End it and try again.`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await rm(file, { force: true })
  return found.length > 0
}

async function groupMembers(group: number, marker: string): Promise<number[]> {
  const processes = await processTable()
  return processes.filter((entry) => entry.group === group && entry.args.includes(marker)).map(({ pid }) => pid)
}
