import { csvRecords } from './csv-records.ts'
import { DaySums } from './day-sums.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { type ImportRow, isDay } from './import-rows.ts'
import { LineError } from './line-error.ts'
import type { LeftOut, TakenOver } from './taken-over.ts'

const COLUMNS = ['path', 'event', 'bot', 'firstvisit', 'date']
/** The versions of the format in which these columns mean what they mean here. */
const VERSIONS = ['1', '2']

/**
 * Reads GoatCounter's CSV export, which has a row for each page view: https://www.goatcounter.com/help/export.
 *
 * @throws {LineError} at the first row that is wrong
 */
export async function* readGoatCounter(
  chunks: AsyncIterable<Buffer>,
  { type, visitors, events, prefix }: TakenOver,
  leftOut: LeftOut,
): AsyncGenerator<ImportRow> {
  const sums = new DaySums()
  const skip = (reason: string) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
  for await (const { line, cells } of csvRecords(decodeUtf8(chunks), columnsOf)) {
    const { path = '', event = '', bot = '', firstvisit = '', date = '' } = cells
    const day = dayOf(date)
    if (day === null) throw new LineError(line, 'Date must be a time such as 2026-11-01T10:00:00Z')
    const isEvent = flag(line, 'Event', event)
    const isFirst = flag(line, 'FirstVisit', firstvisit)
    if (!/^\d*$/.test(bot)) throw new LineError(line, 'Bot must be a number')
    if (Number(bot) !== 0) skip('views by bots')
    else if (!isDay(day)) skip('rows in the future')
    else if (path === '') skip('rows without a path')
    else if (isEvent && events === undefined) skip('events (see --events)')
    else {
      const row = { line, key: prefix + path, count: 1n, day }
      sums.add({ ...row, type: isEvent ? events! : type })
      if (isEvent || !isFirst) continue
      if (visitors === undefined) skip('visitors (see --visitors)')
      else sums.add({ ...row, type: visitors })
    }
  }
  yield* sums.rows()
}

function columnsOf(header: string[]): string[] {
  const [, version = '', first = ''] = /^(\d*)(.*)$/s.exec(header[0] ?? '')!
  const names = [first, ...header.slice(1)].map((name) => name.trim().toLowerCase())
  if (COLUMNS.some((name) => !names.includes(name))) {
    throw new LineError(1, "this is not GoatCounter's CSV export, whose header begins with 2Path")
  }
  if (!VERSIONS.includes(version)) {
    throw new LineError(1, `version ${version} of GoatCounter's export is not known, only ${VERSIONS.join(' and ')}`)
  }
  return names
}

function flag(line: number, column: string, text: string): boolean {
  if (/^(true|1)$/i.test(text)) return true
  if (/^(false|0|)$/i.test(text)) return false
  throw new LineError(line, `${column} must be true or false`)
}

function dayOf(date: string): string | null {
  const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(date) ? new Date(date) : null
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString().slice(0, 10)
}
