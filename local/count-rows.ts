import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { unguardCell } from './formula-guard.ts'
import { LineError, splitObjects } from './json-objects.ts'

/** Longest row of a CSV file, in bytes; a longer one is a quote that was never closed. */
const MAX_ROW_BYTES = 64 * 1024
const COLUMNS = ['type', 'key', 'count', 'day']
const COUNT = /^-?\d{1,19}$/
const LARGEST = 2n ** 63n - 1n

/** One row of a file of counts. */
export interface CountRow {
  /** Where it stands. */
  line: number
  type: string
  key: string
  count: bigint
  day?: string
}

export type CountFormat = 'csv' | 'json'

/**
 * Reads counts from CSV with a header, from a JSON array, or from JSON lines, without reading all of it into memory.
 *
 * @param format if it is known; else it is JSON if it begins with a bracket
 * @throws {LineError} for the first row that is none
 */
export async function* readCountRows(chunks: AsyncIterable<Buffer>, format?: CountFormat): AsyncGenerator<CountRow> {
  const texts = decode(chunks)
  let begin = ''
  while (begin.trim() === '') {
    const next = await texts.next()
    if (next.done) return
    begin += next.value
    if (begin.length > MAX_ROW_BYTES && begin.trim() === '') throw new LineError(1, 'there is nothing but blanks')
  }
  async function* all(): AsyncGenerator<string> {
    yield begin
    yield* texts
  }
  const isJson = format === undefined ? /^\s*[[{]/.test(begin) : format === 'json'
  yield* isJson ? readJson(all()) : readCsv(all())
}

/** Decodes UTF-8 and nothing else, because what is not would be imported under keys that nobody meant. */
async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const strictly = (chunk?: Buffer) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new LineError(line, 'from about here on, it is not UTF-8')
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

async function* readCsv(texts: AsyncGenerator<string>): AsyncGenerator<CountRow> {
  const parser = Readable.from(texts).compose(
    parse({
      columns: (header: string[]) => checkHeader(header),
      info: true,
      skip_empty_lines: true,
      max_record_size: MAX_ROW_BYTES,
    }),
  )
  try {
    for await (const { info, record } of parser as AsyncIterable<{
      info: { lines: number }
      record: Record<string, string>
    }>) {
      const { type = '', key = '', count = '', day = '' } = record
      yield toRow(info.lines, { type, key: unguardCell(key), count: count.trim(), day: day.trim() || undefined })
    }
  } catch (error) {
    // Its messages hold the text of the row; what they say is enough.
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
      return `a quotation mark is not closed, or the row is longer than ${MAX_ROW_BYTES} bytes`
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

async function* readJson(texts: AsyncGenerator<string>): AsyncGenerator<CountRow> {
  for await (const { text, line } of splitObjects(texts)) {
    let value: Record<string, unknown>
    try {
      value = JSON.parse(text, withDigits) as Record<string, unknown>
    } catch {
      throw new LineError(line, 'it is not JSON')
    }
    const unknown = Object.keys(value).some((name) => !COLUMNS.includes(name))
    if (unknown) throw new LineError(line, `an object may have ${COLUMNS.join(', ')}, and nothing else`)
    yield toRow(line, value)
  }
}

/** Numbers as they are written, because beyond 2^53 JavaScript's are rounded. */
function withDigits(_: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value
}

function toRow(line: number, { type, key, count, day }: Record<string, unknown>): CountRow {
  const wrong = (message: string) => new LineError(line, message)
  if (typeof type !== 'string' || type === '') throw wrong('type must be the name of a counter type')
  if (typeof key !== 'string' || key === '') throw wrong('key must be a text, and not an empty one')
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
