import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { toCsv } from '../csv.ts'
import type { AppEnv } from '../http/hono.ts'
import type { TypeNumbers } from '../service/page-numbers.ts'

function file(c: Context<AppEnv>, parts: readonly string[], rows: Parameters<typeof toCsv>[0]): Response {
  const name = parts.join('-').replaceAll(/[^\w.]+/g, '-')
  // Spreadsheets read UTF-8 only with a byte order mark.
  return c.body(`\ufeff${toCsv(rows)}`, 200, {
    'Cache-Control': 'no-store',
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name.slice(0, 100)}.csv"`,
  })
}

/** Counts by age, in a column for each key. @param name the first words of the file's name */
export function agesCsv(c: Context<AppEnv>, name: readonly string[], ages: NonNullable<TypeNumbers['chart']['ages']>) {
  const days = Math.max(...ages.map(({ counts }) => counts.length))
  const rows = Array.from({ length: days }, (_, day) => [day + 1, ...ages.map(({ counts }) => counts[day] ?? null)])
  return file(c, [...name, 'by-age'], [['day', ...ages.map(({ key }) => key)], ...rows])
}

/** The units of a chart. @param name the first words of the file's name */
export function chartCsv(c: Context<AppEnv>, name: readonly string[], chart: TypeNumbers['chart']): Response {
  const { first, last, points, keys = [], ages } = chart
  if (ages) return agesCsv(c, name, ages)
  const columns = (['count', 'before', 'also'] as const).filter(
    (name) => name === 'count' || points.some((point) => point[name] != null),
  )
  const rows = points.flatMap((point) =>
    point.count === null ? [] : [[point.start, ...columns.map((name) => point[name] ?? null), ...(point.parts ?? [])]],
  )
  const ofKeys = keys.map((key) => key ?? 'other keys')
  return file(c, [...name, first, last], [['start', ...columns, ...ofKeys], ...rows])
}

/** The counters of a list. */
export function listCsv(c: Context<AppEnv>, { name }: CounterType, find: string, { list, chart }: TypeNumbers) {
  const hasVisitors = list.counters.some(({ also }) => also !== undefined)
  const fields = (['count', 'also', 'compared', 'before'] as const).filter((field) => hasVisitors || field !== 'also')
  const head = ['key', ...fields.map((field) => (field === 'also' ? 'visitors' : field))]
  const rows = list.counters.map((counter) => [counter.key, ...fields.map((field) => counter[field] ?? null)])
  return file(c, [name, find || 'keys', chart.first, chart.last], [head, ...rows])
}
