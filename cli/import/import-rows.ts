import { unescapeFormulas } from '../../src/csv.ts'
import { dayOrHourOf, isCount } from './cell-values.ts'
import { readCsvRecords } from './csv-records.ts'
import type { InputText } from './input-text.ts'
import { readJsonObjects } from './json-objects.ts'
import { LineError, type Mistakes } from './mistakes.ts'

const COLUMNS = ['type', 'key', 'count', 'day']

/** A row to import. */
export interface ImportRow {
  /** Its line in the file. */
  line: number
  type: string
  key: string
  count: bigint
  /** A day (UTC), such as `2026-11-01`, or an hour, such as `2026-11-01T09`. */
  day?: string
}

/**
 * Reads rows from CSV with a header or from JSON lines, without loading the whole file into memory.
 * @param mistakes gets the lines that are wrong
 * @throws {LineError} at a line after which no other can be read
 */
export async function* readImportRows({ isJson, pieces }: InputText, mistakes: Mistakes): AsyncGenerator<ImportRow> {
  if (isJson) {
    for await (const { line, members } of readJsonObjects(pieces, mistakes)) {
      const row = mistakes.try(() => importRow(line, members))
      if (row !== undefined) yield row
    }
  } else {
    for await (const { line, cells } of readCsvRecords(pieces, checkHeader, mistakes)) {
      const members = { ...cells, key: unescapeFormulas(cells.key!), day: cells.day || undefined }
      const row = mistakes.try(() => importRow(line, members))
      if (row !== undefined) yield row
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

function importRow(line: number, { type, key, count, day, ...others }: Record<string, unknown>): ImportRow {
  const wrong = (message: string) => new LineError(line, message)
  if (Object.keys(others).length > 0) throw wrong(`an object may only have ${COLUMNS.join(', ')}`)
  if (typeof type !== 'string' || type === '') throw wrong('type must be the name of a counter type')
  if (typeof key !== 'string' || key === '') throw wrong('key must be a text and not empty')
  if (typeof count !== 'string' || !/^-?\d{1,19}$/.test(count)) throw wrong('count must be a whole number')
  const number = BigInt(count)
  if (!isCount(number)) throw wrong('count must be within 64 bits')
  return { line, type, key, count: number, ...(day != null && { day: dayOrHourOf(line, 'day', day) }) }
}
