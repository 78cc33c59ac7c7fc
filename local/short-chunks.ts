import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ShortChunks } from './replay-chunks.ts'

/** Entries kept; the oldest are forgotten. A day, the idempotency window, has 1,440 minutes to replay a live log in. */
const MAX_ENTRIES = 10_000

/**
 * Opens the file that remembers where earlier runs met the end of their logs.
 *
 * @param file made when there is something to remember
 */
export async function openShortChunks(file: string): Promise<ShortChunks> {
  const states = await read(file)
  return {
    endsAt: (state) => states.has(state),
    async add(state) {
      states.add(state)
      // Read again: a run over another log may have added to it meanwhile.
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
