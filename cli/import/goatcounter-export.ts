import { countOf, dayOfTime } from './cell-values.ts'
import { readCsvRecords, requireColumns } from './csv-records.ts'
import type { DailyCounts } from './daily-counts.ts'
import type { InputText } from './input-text.ts'
import { type JsonObject, readJsonObjects } from './json-objects.ts'
import { LineError, type Mistakes } from './mistakes.ts'

/** The versions of the CSV export. They have the same columns where it matters. */
const VERSIONS = ['1', '2']
const CHECK_COLUMNS = requireColumns(['Path', 'Event', 'Bot', 'Date'], 'pass the export as GoatCounter wrote it')
const TRUE = ['true', 't', '1']
const FALSE = ['false', 'f', '0']

/**
 * Reads an export of GoatCounter: the CSV, a row for each page view; or of the JSON export `paths.jsonl` and after it
 * `hit_stats.jsonl`, the visits of each hour. Paths are as browsers encode them, without slashes at the end, with queries.
 */
export async function readGoatCounterExport({ isJson, pieces }: InputText, counts: DailyCounts, mistakes: Mistakes) {
  await (isJson ? readJson(pieces, counts, mistakes) : readCsv(pieces, counts, mistakes))
}

async function readCsv(texts: AsyncIterable<string>, counts: DailyCounts, mistakes: Mistakes): Promise<void> {
  for await (const { line, cells } of readCsvRecords(texts, checkHeader, mistakes)) {
    mistakes.try(() => {
      const { Path = '', Event = '', Bot = '' } = cells
      if (!/^\d{1,9}$/.test(Bot)) throw new LineError(line, 'Bot must be a whole number')
      if (!TRUE.includes(Event) && !FALSE.includes(Event)) throw new LineError(line, 'Event must be true or false')
      const day = dayOfTime(line, 'Date', cells.Date)
      if (Number(Bot) > 0) counts.leaveOut('bots')
      else if (TRUE.includes(Event)) counts.leaveOut('events')
      else counts.addPath(line, Path, 1n, day)
    })
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
  return CHECK_COLUMNS(['Path', ...others])
}

async function readJson(texts: AsyncIterable<string>, counts: DailyCounts, mistakes: Mistakes): Promise<void> {
  const paths = new Map<unknown, { path: string; isEvent: boolean }>()
  const add = ({ line, members }: JsonObject) => {
    const { id, path, event, hour, path_id: pathId, count } = members
    if (id !== undefined && typeof path === 'string') {
      paths.set(id, { path, isEvent: event !== undefined && TRUE.includes(String(event)) })
    } else if (hour !== undefined && pathId !== undefined) {
      const visits = countOf(line, 'count', count)
      const day = dayOfTime(line, 'hour', hour)
      const counted = paths.get(pathId)
      if (counted === undefined) {
        throw new LineError(line, 'path_id is unknown; pass paths.jsonl first, then hit_stats.jsonl of the same export')
      }
      if (counted.isEvent) counts.leaveOut('events', visits)
      else counts.addPath(line, counted.path, visits, day)
    } else
      throw new LineError(line, 'this line is from neither paths.jsonl nor hit_stats.jsonl; pass only these two files')
  }
  for await (const object of readJsonObjects(texts, mistakes)) mistakes.try(() => add(object))
}
