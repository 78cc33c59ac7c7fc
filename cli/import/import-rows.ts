import { numberDigits } from '../exact-json.ts'
import { unescapeFormula } from '../formula-escaping.ts'
import { splitLines } from '../lines.ts'
import { csvRecords, MAX_CSV_BYTES } from './csv-records.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { LineError } from './line-error.ts'

/** The longest line of JSON. */
const MAX_JSON_CHARACTERS = 64 * 1024
const COLUMNS = ['type', 'key', 'count', 'day']
const COUNT = /^-?\d{1,19}$/
const LARGEST = 2n ** 63n - 1n

/** A row of a file to import. */
export interface ImportRow {
  /** Its line in the file. */
  line: number
  type: string
  key: string
  count: bigint
  day?: string
}

export type ImportFormat = 'csv' | 'json'

/**
 * Reads rows from CSV with a header or from JSON lines, without loading the whole file into memory.
 *
 * @param format default: JSON lines if the file begins with a brace or a bracket, else CSV
 * @throws {LineError} at the first row that is wrong
 */
export async function* readImportRows(chunks: AsyncIterable<Buffer>, format?: ImportFormat): AsyncGenerator<ImportRow> {
  const texts = decodeUtf8(chunks)
  let begin = ''
  while (begin.trim() === '') {
    const next = await texts.next()
    if (next.done) return
    begin += next.value
    if (begin.length > MAX_CSV_BYTES && begin.trim() === '') throw new LineError(1, 'there is nothing but blanks')
  }
  async function* all(): AsyncGenerator<string> {
    yield begin
    yield* texts
  }
  const isJson = format === undefined ? /^\s*[[{]/.test(begin) : format === 'json'
  yield* isJson ? readJsonLines(all()) : readCsv(all())
}

async function* readCsv(texts: AsyncGenerator<string>): AsyncGenerator<ImportRow> {
  for await (const { line, cells } of csvRecords(texts, checkHeader)) {
    const { type = '', key = '', count = '', day = '' } = cells
    yield toRow(line, { type, key: unescapeFormula(key), count: count.trim(), day: day.trim() || undefined })
  }
}

function checkHeader(header: string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase())
  const missing = COLUMNS.slice(0, 3).filter((name) => !names.includes(name))
  const unknown = names.filter((name, i) => !COLUMNS.includes(name) || names.indexOf(name) !== i)
  if (missing.length === 0 && unknown.length === 0) return names
  throw new LineError(1, 'the header must be "type,key,count" or "type,key,count,day"')
}

async function* readJsonLines(texts: AsyncGenerator<string>): AsyncGenerator<ImportRow> {
  let line = 0
  for await (const text of splitLines(texts, MAX_JSON_CHARACTERS + 1)) {
    line++
    const begin = text.trimStart()
    if (begin === '') continue
    if (begin.startsWith('['))
      throw new LineError(line, "JSON arrays are not read; write one object a line, for example with: jq -c '.[]'")
    if (text.length > MAX_JSON_CHARACTERS)
      throw new LineError(line, `the line is longer than ${MAX_JSON_CHARACTERS} characters`)
    const value = parseJson(text)
    if (typeof value !== 'object' || value === null)
      throw new LineError(line, 'this is not JSON lines; write one object a line')
    const unknown = Object.keys(value).some((name) => !COLUMNS.includes(name))
    if (unknown) throw new LineError(line, `an object may have ${COLUMNS.join(', ')}, and nothing else`)
    yield toRow(line, value as Record<string, unknown>)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, numberDigits)
  } catch {
    return undefined
  }
}

function toRow(line: number, { type, key, count, day }: Record<string, unknown>): ImportRow {
  const wrong = (message: string) => new LineError(line, message)
  if (typeof type !== 'string' || type === '') throw wrong('type must be the name of a counter type')
  if (typeof key !== 'string' || key === '') throw wrong('key must be a text that is not empty')
  if (typeof count !== 'string' || !COUNT.test(count)) throw wrong('count must be a whole number')
  const number = BigInt(count)
  if (number > LARGEST || number < -LARGEST) throw wrong('count must be within 64 bits')
  if (day === undefined || day === null) return { line, type, key, count: number }
  if (typeof day !== 'string' || !isDay(day)) {
    throw wrong('day must be a day from 1970-01-01 to today (UTC), such as "2026-11-01"')
  }
  return { line, type, key, count: number, day }
}

/** Whether a text is a day from 1970-01-01 to today (UTC). */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  const isReal = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
  return isReal && date.getTime() >= 0 && date.getTime() <= Date.now()
}
