import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The most entries that are kept; the oldest are dropped. A live log replayed every minute makes 3,000 in a day. */
const MAX_ENTRIES = 20_000

/**
 * What earlier runs of replay did, for later ones:
 *
 * - The places at which they met the end of their log. When the log has grown, a later run must end a batch at the same place:
 *   otherwise it would send the lines of that batch again, under another key. A place is the state of the hash over all lines
 *   before it, so several logs can share one file.
 * - The batches that a Worker has counted, so that a later run does not claim to have counted them.
 */
export interface RunMemory {
  /** @param withinMs how long ago it may have been added, in milliseconds; by default any time */
  has(entry: string, withinMs?: number): boolean
  add(entry: string): Promise<void>
}

/** Opens the file that remembers earlier runs. It is created when there is something to remember. */
export async function openRunMemory(file: string): Promise<RunMemory> {
  const entries = await read(file)
  return {
    has: (entry, withinMs = Number.POSITIVE_INFINITY) => Date.now() - (entries.get(entry) ?? -Infinity) < withinMs,
    async add(entry) {
      const now = Date.now()
      entries.set(entry, now)
      // Read again, because a run over another log may have added to the file.
      const kept = await read(file)
      kept.delete(entry)
      kept.set(entry, now)
      await mkdir(dirname(file), { recursive: true })
      const written = `${file}.${process.pid}.new`
      await writeFile(written, JSON.stringify([...kept].slice(-MAX_ENTRIES)))
      await rename(written, file)
    },
  }
}

/** The entries of the file, each with the time at which it was added. */
async function read(file: string): Promise<Map<string, number>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]'
    throw error
  })
  return new Map(JSON.parse(text) as [string, number][])
}
