import type { KeyedType } from '../src/counters/counter.ts'
import type { ExportedRow } from './export-format.ts'
import type { WorkerApi } from './worker-api.ts'

/** Where an export stands: all types before this one are done, and of this one everything up to `after`. */
export interface ExportPlace {
  type: number
  after: string | null
}

/** Rows, and the place behind them; `null` behind the last ones. */
export interface ExportedPage {
  rows: ExportedRow[]
  next: ExportPlace | null
  /** Counters that were left out because their name is not stored. */
  nameless: number
}

/** What to export. */
export interface ExportPlan {
  types: readonly string[]
  by: 'total' | 'day'
}

/** The types that a Worker counts. */
export async function configuredTypes(api: WorkerApi): Promise<(KeyedType & { name: string })[]> {
  return (JSON.parse(await api.get('/v1/status')) as { types: (KeyedType & { name: string })[] }).types
}

/** Reads page after page, from a place on. */
export async function* exportPages(
  api: WorkerApi,
  { types, by }: ExportPlan,
  from: ExportPlace,
): AsyncGenerator<ExportedPage> {
  let place: ExportPlace | null = types.length > from.type ? from : null
  while (place !== null) {
    const type: string = types[place.type]!
    const query = new URLSearchParams({ by, ...(place.after !== null && { after: place.after }) })
    const page = JSON.parse(await api.get(`/v1/export/${encodeURIComponent(type)}?${query}`), withDigits) as {
      rows: { key: string | null; count: string; day?: string }[]
      next: string | null
    }
    const named = page.rows.filter((row) => row.key !== null)
    const after: ExportPlace =
      page.next === null ? { type: place.type + 1, after: null } : { ...place, after: page.next }
    place = after.type < types.length ? after : null
    yield {
      rows: named.map(({ key, count, day }) => ({ type, key: key!, count, ...(day !== undefined && { day }) })),
      nameless: page.rows.length - named.length,
      next: place,
    }
  }
}

/** Numbers as they are written, because beyond 2^53 JavaScript's are rounded. */
function withDigits(_: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value
}
