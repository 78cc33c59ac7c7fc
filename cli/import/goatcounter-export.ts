import { readCsvRecords } from './csv-records.ts'
import type { DailyCounts } from './daily-counts.ts'
import { decodeText } from './decoded-text.ts'
import { isDay } from './import-row.ts'
import { readJsonObjects } from './json-objects.ts'
import { LineError } from './line-error.ts'
import { detectFormat } from './text-format.ts'

const UNZIP = "pass two of its files: unzip -p FILE.zip '*/paths.jsonl' '*/hit_stats.jsonl' | … --from goatcounter -"
/** The versions of the CSV export. They have the same columns where it matters. */
const VERSIONS = ['1', '2']
const COLUMNS = ['Event', 'Bot', 'Date']
// RFC 3339. Older servers wrote some times without a zone, which means UTC.
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:\d\d)?$/
const TRUE = ['true', 't', '1']
const FALSE = ['false', 'f', '0']

/**
 * Reads an export of GoatCounter: the CSV, a row for each page view; or of the JSON export `paths.jsonl` and after it
 * `hit_stats.jsonl`, the visits of each hour.
 *
 * @throws {LineError} at the first row that is wrong
 */
export async function readGoatCounterExport(chunks: AsyncIterable<Buffer>, counts: DailyCounts): Promise<void> {
  const text = await detectFormat(decodeText(chunks, UNZIP))
  if (text === null) return
  await (text.format === 'json' ? readJson(text.texts, counts) : readCsv(text.texts, counts))
}

async function readCsv(texts: AsyncIterable<string>, counts: DailyCounts): Promise<void> {
  for await (const { line, cells } of readCsvRecords(texts, checkHeader)) {
    const { Path = '', Event = '', Bot = '' } = cells
    if (!/^\d{1,9}$/.test(Bot)) throw new LineError(line, 'Bot must be a whole number')
    if (!TRUE.includes(Event) && !FALSE.includes(Event)) throw new LineError(line, 'Event must be true or false')
    const day = dayOf(line, 'Date', cells.Date)
    if (Number(Bot) > 0) counts.leaveOut('bots')
    else if (TRUE.includes(Event)) counts.leaveOut('events')
    else counts.add(line, 'path', Path, 1n, day)
  }
}

function checkHeader([first = '', ...others]: string[]): string[] {
  const [, version] = /^(\d{1,9})Path$/.exec(first) ?? []
  if (version === undefined) {
    throw new LineError(1, 'this is not an export of GoatCounter: the header of its CSV begins with "2Path,"')
  }
  if (!VERSIONS.includes(version)) {
    throw new LineError(
      1,
      `this is version ${version} of GoatCounter's CSV; this command reads ${VERSIONS.join(' and ')}`,
    )
  }
  const wrong = COLUMNS.find((name) => others.indexOf(name) === -1 || others.indexOf(name) !== others.lastIndexOf(name))
  if (wrong !== undefined) throw new LineError(1, `the header must have the column "${wrong}" once`)
  return ['Path', ...others]
}

async function readJson(texts: AsyncIterable<string>, counts: DailyCounts): Promise<void> {
  const paths = new Map<unknown, { path: string; isEvent: boolean }>()
  for await (const { line, members } of readJsonObjects(texts)) {
    const { id, path, event, hour, path_id: pathId, count } = members
    if (id !== undefined && typeof path === 'string') {
      paths.set(id, { path, isEvent: event !== undefined && TRUE.includes(String(event)) })
    } else if (hour !== undefined && pathId !== undefined) {
      if (typeof count !== 'string' || !/^\d{1,15}$/.test(count)) {
        throw new LineError(line, 'count must be a whole number')
      }
      const day = dayOf(line, 'hour', hour)
      const counted = paths.get(pathId)
      if (counted === undefined) {
        throw new LineError(line, 'path_id is unknown; pass paths.jsonl first, then hit_stats.jsonl of the same export')
      }
      if (counted.isEvent) counts.leaveOut('events', BigInt(count))
      else counts.add(line, 'path', counted.path, BigInt(count), day)
    } else
      throw new LineError(line, 'this is neither of paths.jsonl nor of hit_stats.jsonl; pass these two files alone')
  }
}

/** The day (UTC) of a time. */
function dayOf(line: number, name: string, time: unknown): string {
  const [, date = '', clock, zone = 'Z'] = TIME.exec(String(time)) ?? []
  const at = new Date(`${date}T${clock}${zone}`)
  const day = isDay(date) && !Number.isNaN(at.getTime()) ? at.toISOString().slice(0, 10) : ''
  if (isDay(day)) return day
  throw new LineError(line, `${name} must be a time from 1970 to today (UTC), such as "2026-11-01T12:00:00Z"`)
}
