import { unescapeFormulas } from '../../src/browser/dashboard/csv.ts'
import { dayOf, isCount } from './cell-values.ts'
import { readCsvRecords } from './csv-records.ts'
import type { InputText } from './input-text.ts'
import { readJsonObjects } from './json-objects.ts'
import { LineError } from './line-error.ts'

const COLUMNS = ['type', 'key', 'count', 'day']

/** A row to import. */
export interface ImportRow {
  /** Its line in the file. */
  line: number
  type: string
  key: string
  count: bigint
  /** A day (UTC), such as `2026-11-01`. */
  day?: string
}

/**
 * Reads rows from CSV with a header or from JSON lines, without loading the whole file into memory.
 *
 * @throws {LineError} at the first row that is wrong
 */
export async function* readImportRows({ isJson, pieces }: InputText): AsyncGenerator<ImportRow> {
  if (isJson) {
    for await (const { line, members } of readJsonObjects(pieces)) {
      const unknown = Object.keys(members).some((name) => !COLUMNS.includes(name))
      if (unknown) throw new LineError(line, `an object may have ${COLUMNS.join(', ')}, and nothing else`)
      yield importRow(line, members)
    }
  } else {
    for await (const { line, cells } of readCsvRecords(pieces, checkHeader)) {
      yield importRow(line, { ...cells, key: unescapeFormulas(cells.key!), day: cells.day || undefined })
    }
  }
}

function checkHeader(header: string[]): string[] {
  const names = header.map((name) => name.toLowerCase())
  const missing = COLUMNS.slice(0, 3).filter((name) => !names.includes(name))
  const unknown = names.filter((name, i) => !COLUMNS.includes(name) || names.indexOf(name) !== i)
  if (missing.length === 0 && unknown.length === 0) return names
  throw new LineError(
    1,
    'the header must be "type,key,count" or "type,key,count,day", or that of an export which --help lists',
  )
}

function importRow(line: number, { type, key, count, day }: Record<string, unknown>): ImportRow {
  const wrong = (message: string) => new LineError(line, message)
  if (typeof type !== 'string' || type === '') throw wrong('type must be the name of a counter type')
  if (typeof key !== 'string' || key === '') throw wrong('key must be a text that is not empty')
  if (typeof count !== 'string' || !/^-?\d{1,19}$/.test(count)) throw wrong('count must be a whole number')
  const number = BigInt(count)
  if (!isCount(number)) throw wrong('count must be within 64 bits')
  return { line, type, key, count: number, ...(day != null && { day: dayOf(line, 'day', day) }) }
}
