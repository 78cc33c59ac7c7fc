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
  const entries = await read(file)
  return {
    linesAfter: (state) => entries.get(state),
    async add(state, lines) {
      entries.set(state, lines)
      // Read again: a run over another log may have added to it meanwhile.
      const kept = [...(await read(file)).set(state, lines)].slice(-MAX_ENTRIES)
      await mkdir(dirname(file), { recursive: true })
      const written = `${file}.${process.pid}.new`
      await writeFile(written, JSON.stringify(Object.fromEntries(kept)))
      await rename(written, file)
    },
  }
}

async function read(file: string): Promise<Map<string, number>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  return new Map(Object.entries(JSON.parse(text) as Record<string, number>))
}
