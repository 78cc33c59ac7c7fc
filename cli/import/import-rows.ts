import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { numberDigits } from '../exact-json.ts'
import { unescapeFormula } from '../formula-escaping.ts'
import { splitLines } from '../lines.ts'
import { LineError } from './line-error.ts'

/** The longest row of a CSV file, in bytes. A longer one has a quotation mark that was never closed. */
const MAX_CSV_BYTES = 64 * 1024
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
  const texts = decode(chunks)
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

/** Decodes UTF-8. Text in another encoding is refused, because its keys would be wrong. */
async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const strictly = (chunk?: Buffer) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new LineError(line, 'the file is not UTF-8, from about this line on')
    }
  }
  for await (const chunk of chunks) {
    const text = strictly(chunk)
    if (text !== '') yield text
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line++
  }
  const rest = strictly()
  if (rest !== '') yield rest
}

async function* readCsv(texts: AsyncGenerator<string>): AsyncGenerator<ImportRow> {
  const parser = Readable.from(texts).compose(
    parse({
      columns: (header: string[]) => checkHeader(header),
      info: true,
      skip_empty_lines: true,
      max_record_size: MAX_CSV_BYTES,
    }),
  )
  try {
    for await (const { info, record } of parser as AsyncIterable<{
      info: { lines: number }
      record: Record<string, string>
    }>) {
      const { type = '', key = '', count = '', day = '' } = record
      yield toRow(info.lines, { type, key: unescapeFormula(key), count: count.trim(), day: day.trim() || undefined })
    }
  } catch (error) {
    // The parser's own messages would repeat the text of the row.
    if (error instanceof CsvError) throw new LineError(Number(error.lines ?? 1), csvReason(error))
    throw error
  }
}

function csvReason({ code, message }: CsvError): string {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return 'the row has more or fewer cells than the header'
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_MAX_RECORD_SIZE':
      return `a quotation mark is not closed, or the row is longer than ${MAX_CSV_BYTES} bytes`
    default:
      return message.slice(0, 200)
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

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  const isReal = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
  return isReal && date.getTime() >= 0 && date.getTime() <= Date.now()
}
