import { createHash, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processTable } from './process-table.ts'

/** A start that is running. */
interface Instance {
  /** Makes the text of every instance another one. */
  id: string
  pid: number
  /** Command line of the process, by which it is told from a stranger that got the same process id. */
  args: string
  /** Where it answers. */
  url: string
}

/** A lock file and what it holds. */
interface Link {
  file: string
  text: string
}

/**
 * Sees to it that one state directory has one start at a time.
 *
 * A start that was killed leaves its lock file behind. It is not removed to be made again, which two starts could do to each
 * other; its successor makes a file that is named after its content, which only one can. The last file of that chain is the
 * lock.
 */
export class InstanceLock {
  readonly #files: readonly string[]
  private constructor(files: readonly string[]) {
    this.#files = files
  }

  /**
   * @throws {Error} if another start is running on this directory, saying which
   */
  static async take(stateDirectory: string, url: string): Promise<InstanceLock> {
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 })
    const instance: Instance = { id: randomUUID(), pid: process.pid, args: (await commandLine(process.pid)) ?? '', url }
    const first = join(stateDirectory, 'instance.json')
    const own = `${first}.${instance.id}`
    await writeFile(own, JSON.stringify(instance))
    try {
      for (;;) {
        const chain = await leftBehind(first)
        const file = successor(first, chain)
        // link(2) makes the name together with its content, and only if it is not there.
        if (!(await linkUnlessThere(own, file))) continue
        // What this one succeeds must still stand: else another start has taken and released the lock meanwhile.
        if (await stillStands(chain)) return new InstanceLock([...chain.map((link) => link.file), file])
        await rm(file, { force: true })
      }
    } finally {
      await rm(own, { force: true })
    }
  }

  /** Gives the directory free. */
  async release(): Promise<void> {
    // The oldest first: from then on no other start can take itself for the successor of what is being removed.
    for (const file of this.#files) await rm(file, { force: true })
  }
}

/** The lock files of starts that were killed, each the successor of the one before. */
async function leftBehind(first: string): Promise<Link[]> {
  const chain: Link[] = []
  for (;;) {
    const file = successor(first, chain)
    const text = await readFile(file, 'utf8').catch(() => null)
    if (text === null) return chain
    const { pid, args, url } = JSON.parse(text) as Instance
    if (pid === process.pid || (await commandLine(pid)) !== args) chain.push({ file, text })
    else {
      throw new Error(
        `It is running already, as process ${pid}, at ${url}.\n` +
          `Stop it with Ctrl-C where it runs, or with: kill ${pid}\n` +
          'To run a second one beside it, give it a port and a state directory of its own: PORT=8797 STATE_DIR=.local-2',
      )
    }
  }
}

function successor(first: string, chain: readonly Link[]): string {
  const last = chain.at(-1)
  return last === undefined ? first : `${first}.${createHash('sha256').update(last.text).digest('hex').slice(0, 16)}`
}

async function stillStands(chain: readonly Link[]): Promise<boolean> {
  const texts = await Promise.all(chain.map(({ file }) => readFile(file, 'utf8').catch(() => null)))
  return chain.every(({ text }, index) => text === texts[index])
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

async function commandLine(pid: number): Promise<string | null> {
  return (await processTable()).find((entry) => entry.pid === pid)?.args ?? null
}
