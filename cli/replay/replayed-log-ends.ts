import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The most entries that are kept; the oldest are dropped. A live log replayed every minute makes 1,440 in a day. */
const MAX_ENTRIES = 10_000

/**
 * The places at which earlier runs met the end of their log. When the log has grown, a later run must end a batch at the
 * same place: otherwise it would send the lines of that batch again, under another key. A place is the state of the hash
 * over all lines before it, so several logs can share one file.
 */
export interface LogEnds {
  has(state: string): boolean
  add(state: string): Promise<void>
}

/**
 * Opens the file that remembers log ends.
 *
 * @param file created when there is something to remember
 */
export async function openLogEnds(file: string): Promise<LogEnds> {
  const states = await read(file)
  return {
    has: (state) => states.has(state),
    async add(state) {
      states.add(state)
      // Read again, because a run over another log may have added to the file.
      const kept = [...(await read(file)).add(state)].slice(-MAX_ENTRIES)
      await mkdir(dirname(file), { recursive: true })
      const written = `${file}.${process.pid}.new`
      await writeFile(written, JSON.stringify(kept))
      await rename(written, file)
    },
  }
}

async function read(file: string): Promise<Set<string>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]'
    throw error
  })
  return new Set(JSON.parse(text) as string[])
}
