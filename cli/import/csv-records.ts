import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { LineError } from './line-error.ts'

/** The longest row, in bytes. A longer one has a quotation mark that was never closed. */
const MAX_CSV_BYTES = 64 * 1024

/** A row of a CSV file. */
export interface CsvRecord {
  /** Its last line in the file. */
  line: number
  /** Its cells by column. */
  cells: Record<string, string>
}

/**
 * Reads the rows of CSV with a header, without loading the whole file into memory. Blank lines are skipped, and blanks around
 * cells, unless they are quoted.
 *
 * @param columns names the columns, given the header
 * @throws {LineError} at the first row that is wrong
 */
export async function* readCsvRecords(
  texts: AsyncIterable<string>,
  columns: (header: string[]) => string[],
): AsyncGenerator<CsvRecord> {
  const parser = Readable.from(texts).compose(
    parse({ columns, info: true, trim: true, skip_empty_lines: true, max_record_size: MAX_CSV_BYTES }),
  )
  try {
    for await (const { info, record } of parser as AsyncIterable<{
      info: { lines: number }
      record: Record<string, string>
    }>) {
      yield { line: info.lines, cells: record }
    }
  } catch (error) {
    // The parser's own messages would repeat the text of the row.
    if (error instanceof CsvError) throw new LineError(Number(error.lines ?? 1), reasonOf(error))
    throw error
  }
}

/**
 * Checks that a header has some columns once each. Others are ignored.
 *
 * @param hint what to do if it does not
 * @throws {LineError} if it does not
 */
export function requireColumns(header: string[], columns: readonly string[], hint: string): string[] {
  if (columns.every((name) => header.filter((other) => other === name).length === 1)) return header
  throw new LineError(1, `the header must have each of the columns ${columns.join(', ')} once; ${hint}`)
}

function reasonOf({ code, message }: CsvError): string {
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
