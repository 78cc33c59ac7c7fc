import { createHash } from 'node:crypto'
import type { CountRow } from './count-rows.ts'

/** As many rows as POST /v1/imports takes. */
const MAX_ROWS = 1_000
/** Bytes of JSON after which a chunk ends, as far below what POST /v1/imports takes as one more row can be long. */
const MAX_JSON_BYTES = 900_000

/** Rows that are sent in one request. */
export interface ImportChunk {
  idempotencyKey: string
  counters: { type: string; key: string; count: number | string; day?: string }[]
  /** Where each of them stands in the file. */
  lines: number[]
}

/**
 * Cuts rows into chunks. A chunk's key is made of the import's name and the chunk's rows, and nothing else: not of the file,
 * its format or its compression. Chunks that are alike within one import are told apart by how many there were before.
 */
export async function* importChunks(rows: AsyncIterable<CountRow>, name: string): AsyncGenerator<ImportChunk> {
  const seen = new Map<string, number>()
  let counters: ImportChunk['counters'] = []
  let lines: number[] = []
  let bytes = 0
  const finish = (): ImportChunk => {
    const content = hash('slotted-counter import', name, JSON.stringify(counters))
    const before = seen.get(content) ?? 0
    seen.set(content, before + 1)
    const chunk = { idempotencyKey: `import-${hash(content, String(before))}`, counters, lines }
    counters = []
    lines = []
    bytes = 0
    return chunk
  }
  for await (const { line, type, key, count, day } of rows) {
    const row = { type, key, count: toJson(count), ...(day !== undefined && { day }) }
    counters.push(row)
    lines.push(line)
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1
    if (counters.length === MAX_ROWS || bytes >= MAX_JSON_BYTES) yield finish()
  }
  if (counters.length > 0) yield finish()
}

/** Digits, where a JSON number would be rounded. */
function toJson(count: bigint): number | string {
  return Number.isSafeInteger(Number(count)) ? Number(count) : `${count}`
}

function hash(...texts: string[]): string {
  const sha = createHash('sha256')
  for (const text of texts) sha.update(text).update('\0')
  return sha.digest('hex')
}
