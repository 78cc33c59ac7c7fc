import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { LineError, type Mistakes } from './mistakes.ts'

/** The longest row, in bytes. A longer one has a quotation mark that was never closed. */
const MAX_CSV_BYTES = 64 * 1024
const UNEVEN = ['CSV_RECORD_INCONSISTENT_COLUMNS', 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH']

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
 * @param columns names the columns, given the header
 * @param mistakes gets the rows with more or fewer cells than the header
 * @throws {LineError} at a row after which no other can be read
 */
export async function* readCsvRecords(
  texts: AsyncIterable<string>,
  columns: (header: string[]) => string[],
  mistakes: Mistakes,
): AsyncGenerator<CsvRecord> {
  const parser = Readable.from(texts).compose(
    parse({
      columns,
      info: true,
      trim: true,
      skip_empty_lines: true,
      max_record_size: MAX_CSV_BYTES,
      skip_records_with_error: true,
      on_skip: (error) => {
        if (error === undefined || !UNEVEN.includes(error.code)) throw error
        mistakes.add(lineErrorOf(error))
      },
    }),
  )
  try {
    for await (const { info, record } of parser) yield { line: info.lines, cells: record }
  } catch (error) {
    throw error instanceof CsvError ? lineErrorOf(error) : error
  }
}

/** A check that a header has some columns once each. Others are ignored. @param hint what the `LineError` advises */
export function requireColumns(columns: readonly string[], hint: string): (header: string[]) => string[] {
  return (header) => {
    if (columns.every((name) => header.filter((other) => other === name).length === 1)) return header
    throw new LineError(1, `the header must have each of the columns ${columns.join(', ')} once; ${hint}`)
  }
}

/** The parser's own messages would repeat the text of the row. */
function lineErrorOf({ code, message, lines = 1 }: CsvError): LineError {
  const reason = UNEVEN.includes(code)
    ? 'the row has more or fewer cells than the header'
    : code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE'
      ? `a quotation mark is not closed, or the row is longer than ${MAX_CSV_BYTES} bytes`
      : message.slice(0, 200)
  return new LineError(Number(lines), reason)
}
