import { readFile } from 'node:fs/promises'
import { DailyCounts } from '../../../../cli/import/daily-counts.ts'
import type { OtherCounter } from '../../../../cli/import/other-counters.ts'

/** The content of a sample. */
export const sample = (name: string) => readFile(new URL(`samples/${name}`, import.meta.url))

/** Reads an export in pieces of a size: each row as key, count and day, and what is left out. */
export async function exportedCounts(read: OtherCounter['read'], content: string | Buffer, size = 7) {
  const bytes = Buffer.from(content)
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const counts = new DailyCounts({ type: 'a', prefix: '' })
  await read(pieces(), counts)
  return {
    rows: counts.rows().map(({ key, count, day }) => [key, count, day ?? null] as const),
    leftOut: Object.fromEntries(counts.leftOut),
  }
}
