import { unescapeFormulas } from '../../src/browser/dashboard/csv.ts'
import { readCsvRecords } from './csv-records.ts'
import { decodeText } from './decoded-text.ts'
import { type ImportRow, importRow } from './import-row.ts'
import { readJsonObjects } from './json-objects.ts'
import { LineError } from './line-error.ts'
import { detectFormat, type TextFormat } from './text-format.ts'

const COLUMNS = ['type', 'key', 'count', 'day']

/**
 * Reads rows from CSV with a header or from JSON lines, without loading the whole file into memory.
 *
 * @param format default: JSON lines if the file begins with a brace or a bracket, else CSV
 * @throws {LineError} at the first row that is wrong
 */
export async function* readImportRows(chunks: AsyncIterable<Buffer>, format?: TextFormat): AsyncGenerator<ImportRow> {
  const text = await detectFormat(decodeText(chunks))
  if (text === null) return
  yield* (format ?? text.format) === 'json' ? readJson(text.texts) : readCsv(text.texts)
}

async function* readCsv(texts: AsyncIterable<string>): AsyncGenerator<ImportRow> {
  for await (const { line, cells } of readCsvRecords(texts, checkHeader)) {
    const { type = '', key = '', count = '', day = '' } = cells
    yield importRow(line, { type, key: unescapeFormulas(key), count: count.trim(), day: day.trim() || undefined })
  }
}

function checkHeader(header: string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase())
  const missing = COLUMNS.slice(0, 3).filter((name) => !names.includes(name))
  const unknown = names.filter((name, i) => !COLUMNS.includes(name) || names.indexOf(name) !== i)
  if (missing.length === 0 && unknown.length === 0) return names
  throw new LineError(1, 'the header must be "type,key,count" or "type,key,count,day"')
}

async function* readJson(texts: AsyncIterable<string>): AsyncGenerator<ImportRow> {
  for await (const { line, members } of readJsonObjects(texts)) {
    const unknown = Object.keys(members).some((name) => !COLUMNS.includes(name))
    if (unknown) throw new LineError(line, `an object may have ${COLUMNS.join(', ')}, and nothing else`)
    yield importRow(line, members)
  }
}
