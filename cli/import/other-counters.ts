import type { DailyCounts } from './daily-counts.ts'
import { readGoatCounterExport } from './goatcounter-export.ts'
import type { InputText } from './input-text.ts'
import type { Mistakes } from './mistakes.ts'
import { readPlausibleExport } from './plausible-export.ts'
import { readUmamiExport } from './umami-export.ts'

/** A tool whose exports can be imported. */
export interface OtherCounter {
  /** Its columns, or members of its JSON, by which a file is recognized: all of one list. */
  columns: readonly (readonly string[])[]
  /** Adds up what an export holds, and notes the wrong lines. @throws {LineError} at a row after which no other can be read */
  read: (text: InputText, counts: DailyCounts, mistakes: Mistakes) => Promise<void>
  /** What has no place in a counter. */
  neverImported: string
}

/** The tools by their names in `--from`. */
export const OTHER_COUNTERS: Readonly<Record<string, OtherCounter>> = {
  goatcounter: {
    columns: [
      ['Path', 'Event', 'Bot'],
      ['id', 'path'],
      ['hour', 'path_id'],
    ],
    read: readGoatCounterExport,
    neverImported: 'titles, referrers, browsers, systems, screen sizes, languages, locations and sessions',
  },
  plausible: {
    columns: [['date', 'page', 'pageviews']],
    read: readPlausibleExport,
    neverImported: 'visitors, visits, host names, scroll depth and time on page',
  },
  umami: {
    columns: [['url_path', 'event_type', 'created_at']],
    read: readUmamiExport,
    neverImported: 'sessions, visits, host names, queries, titles, referrers, browsers, systems, devices and locations',
  },
}

/** The tool that wrote a text, by the header of its CSV or the members of its JSON; `undefined` if it is none of these. */
export function toolOf({ beginning, isJson }: InputText): string | undefined {
  const [header = ''] = beginning.trimStart().split('\n', 1)
  // GoatCounter writes the version of its format before the first column.
  const names = isJson
    ? [...beginning.matchAll(/"(\w+)"\s*:/g)].map(([, name]) => name)
    : header.split(',').map((cell) => cell.replace(/^[\s"\d]+|[\s"]+$/g, ''))
  const has = (name: string) => names.includes(name)
  return Object.keys(OTHER_COUNTERS).find((tool) => OTHER_COUNTERS[tool]!.columns.some((list) => list.every(has)))
}
