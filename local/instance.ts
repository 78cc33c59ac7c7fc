import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
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
    const own = join(stateDirectory, `instance.${process.pid}.${randomUUID()}.json`)
    const instance: Instance = { pid: process.pid, args: (await commandLine(process.pid)) ?? '', url }
    await writeFile(own, JSON.stringify(instance))
    try {
      // link(2) makes the name with its content in one step, and only if it is not there.
      while (!(await linkUnlessThere(own, file))) {
        const text = await readFile(file, 'utf8').catch(() => null)
        if (text === null) continue
        const other = JSON.parse(text) as Instance
        if (other.pid !== process.pid && (await commandLine(other.pid)) === other.args) {
          throw new Error(
            `It is running already, as process ${other.pid}, at ${other.url}.\n` +
              `Stop it with Ctrl-C where it runs, or with: kill ${other.pid}\n` +
              'To run a second one beside it, give it a port and a state directory of its own: PORT=8788 STATE_DIR=.local-2',
          )
        }
        await removeStale(file, text)
      }
    } finally {
      await rm(own, { force: true })
    }
    return new InstanceLock(file)
  }

  async release(): Promise<void> {
    await rm(this.#file, { force: true })
  }
}

async function linkUnlessThere(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Removes what a start that was killed has left; not what another start has put in its place meanwhile. */
async function removeStale(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomUUID()}.stale`
  try {
    await rename(file, aside)
  } catch {
    // Another start was faster.
    return
  }
  if ((await readFile(aside, 'utf8')) !== text) await linkUnlessThere(aside, file)
  await rm(aside, { force: true })
}

async function commandLine(pid: number): Promise<string | null> {
  return (await processTable()).find((entry) => entry.pid === pid)?.args ?? null
}
