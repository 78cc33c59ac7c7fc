import { hash } from 'node:crypto'
import type { ImportRow } from './import-rows.ts'
import type { ImportedCount } from './split-imports.ts'

/** The most rows that POST /v1/imports accepts. */
const MAX_ROWS = 1_000
/** Bytes of JSON at which a batch ends. One more row still fits into what POST /v1/imports accepts. */
const MAX_JSON_BYTES = 900_000

/** Rows that are sent in one request, unless they are in several ranges. */
export interface ImportBatch {
  idempotencyKey: string
  counters: ImportedCount[]
  /** The line of each row in the file. */
  lines: number[]
}

/**
 * Cuts rows into batches. A batch's key depends on the name of the import and on the rows, and on nothing else: not on the
 * file, its format or its compression. Equal batches of one import are numbered, so that each counts.
 */
export async function* importBatches(
  rows: AsyncIterable<ImportRow> | Iterable<ImportRow>,
  name: string,
): AsyncGenerator<ImportBatch> {
  const seen = new Map<string, number>()
  const newBatch = () => ({ counters: [] as ImportedCount[], lines: [] as number[], bytes: 0 })
  let batch = newBatch()
  const finish = (): ImportBatch => {
    const { counters, lines } = batch
    batch = newBatch()
    const content = digestOf('slotted-counter import', name, JSON.stringify(counters))
    const before = seen.get(content) ?? 0
    seen.set(content, before + 1)
    return { idempotencyKey: `import-${digestOf(content, String(before))}`, counters, lines }
  }
  for await (const { line, type, key, count, day } of rows) {
    const row = { type, key, count: toJson(count), ...(day !== undefined && { day }) }
    batch.counters.push(row)
    batch.lines.push(line)
    batch.bytes += Buffer.byteLength(JSON.stringify(row)) + 1
    if (batch.counters.length === MAX_ROWS || batch.bytes >= MAX_JSON_BYTES) yield finish()
  }
  if (batch.counters.length > 0) yield finish()
}

/** A string of digits where a JSON number would be rounded. */
function toJson(count: bigint): number | string {
  return Number.isSafeInteger(Number(count)) ? Number(count) : `${count}`
}

const digestOf = (...texts: string[]) => hash('sha256', texts.map((text) => `${text}\0`).join(''))
