import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { LineError } from './line-error.ts'

/** The longest row, in bytes. A longer one has a quotation mark that was never closed. */
export const MAX_CSV_BYTES = 64 * 1024

/** A row of a CSV file. */
export interface CsvRecord {
  /** Its last line in the file. */
  line: number
  /** Its cells by column. */
  cells: Record<string, string>
}

/**
 * Reads the rows of CSV with a header, without loading the whole file into memory. Blank lines are skipped.
 *
 * @param columns names the columns, given the header
 * @throws {LineError} at the first row that is wrong
 */
export async function* readCsvRecords(
  texts: AsyncIterable<string>,
  columns: (header: string[]) => string[],
): AsyncGenerator<CsvRecord> {
  const parser = Readable.from(texts).compose(
    parse({ columns, info: true, skip_empty_lines: true, max_record_size: MAX_CSV_BYTES }),
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
