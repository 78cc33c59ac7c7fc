import { numberDigits } from '../exact-json.ts'
import { unescapeFormula } from '../formula-escaping.ts'
import { splitLines } from '../lines.ts'
import { MAX_CSV_BYTES, readCsvRecords } from './csv-records.ts'
import { decodeText } from './decoded-text.ts'
import { type ImportRow, importRow } from './import-row.ts'
import { LineError } from './line-error.ts'

/** The longest line of JSON. */
const MAX_JSON_CHARACTERS = 64 * 1024
const COLUMNS = ['type', 'key', 'count', 'day']

export type ImportFormat = 'csv' | 'json'

/**
 * Reads rows from CSV with a header or from JSON lines, without loading the whole file into memory.
 *
 * @param format default: JSON lines if the file begins with a brace or a bracket, else CSV
 * @throws {LineError} at the first row that is wrong
 */
export async function* readImportRows(chunks: AsyncIterable<Buffer>, format?: ImportFormat): AsyncGenerator<ImportRow> {
  const texts = decodeText(chunks)
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
  for await (const { line, cells } of readCsvRecords(texts, checkHeader)) {
    const { type = '', key = '', count = '', day = '' } = cells
    yield importRow(line, { type, key: unescapeFormula(key), count: count.trim(), day: day.trim() || undefined })
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
    yield importRow(line, value as Record<string, unknown>)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, numberDigits)
  } catch {
    return undefined
  }
}
