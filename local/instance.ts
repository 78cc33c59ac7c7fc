import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processTable } from './process-table.ts'

/** A start that is running. */
interface Instance {
  pid: number
  /** Command line of the process, by which it is told from a stranger that got the same id. */
  args: string
  /** Where it answers. */
  url: string
}

/** Sees to it that one state directory has one start at a time. */
export class InstanceLock {
  readonly #file: string
  private constructor(file: string) {
    this.#file = file
  }

  /**
   * @throws {Error} if another start is running on this directory, saying which
   */
  static async take(stateDirectory: string, url: string): Promise<InstanceLock> {
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 })
    const file = join(stateDirectory, 'instance.json')
    const instance: Instance = { pid: process.pid, args: (await commandLine(process.pid)) ?? '', url }
    for (;;) {
      try {
        await writeFile(file, JSON.stringify(instance), { flag: 'wx' })
        return new InstanceLock(file)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const other = await readInstance(file)
      if (other !== null && other.pid !== process.pid && (await commandLine(other.pid)) === other.args) {
        throw new Error(
          `It is running already, as process ${other.pid}, at ${other.url}.\n` +
            `Stop it with Ctrl-C where it runs, or with: kill ${other.pid}\n` +
            'To run a second one beside it, give it a port and a state directory of its own: PORT=8788 STATE_DIR=.local-2',
        )
      }
      // Left by a start that was killed.
      await rm(file, { force: true })
    }
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}

async function readInstance(file: string): Promise<Instance | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Instance
  } catch {
    return null
  }
}

async function commandLine(pid: number): Promise<string | null> {
  return (await processTable()).find((entry) => entry.pid === pid)?.args ?? null
}
