import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ShortChunks } from './replay-chunks.ts'

/** Entries kept; the oldest are forgotten. */
const MAX_ENTRIES = 1_000

/**
 * Opens the file that remembers where earlier runs met the end of their logs.
 *
 * @param file made when there is something to remember
 */
export async function openShortChunks(file: string): Promise<ShortChunks> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const entries = new Map(Object.entries(JSON.parse(text) as Record<string, number>))
  return {
    linesAfter: (state) => entries.get(state),
    async add(state, lines) {
      entries.set(state, lines)
      const kept = [...entries].slice(-MAX_ENTRIES)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(`${file}.new`, JSON.stringify(Object.fromEntries(kept)))
      await rename(`${file}.new`, file)
    },
  }
}
