import { readFile } from 'node:fs/promises'
import { DailyCounts } from '../../../../cli/import/daily-counts.ts'
import { readText } from '../../../../cli/import/input-text.ts'
import { Mistakes } from '../../../../cli/import/mistakes.ts'
import type { OtherCounter } from '../../../../cli/import/other-counters.ts'

/** The content of a sample. */
export const sample = (name: string) => readFile(new URL(`samples/${name}`, import.meta.url))

/** Yields a file in pieces of the given size. */
export async function* pieces(content: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Reads an export in pieces of the given size: each row as key, count and day, and what was skipped. */
export async function exportedCounts(read: OtherCounter['read'], content: string | Buffer, size = 7) {
  const counts = new DailyCounts({ type: 'a', prefix: '', query: true })
  const mistakes = new Mistakes()
  const text = await readText(pieces(content, size))
  await mistakes.all(() => read(text, counts, mistakes))
  return {
    rows: counts.rows().map(({ key, count, day }) => [key, count, day ?? null] as const),
    leftOut: Object.fromEntries(counts.leftOut),
  }
}
