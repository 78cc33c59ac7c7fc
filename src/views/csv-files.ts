import type { CounterType } from '../config/counter-types.ts'
import { toCsv } from '../csv.ts'
import type { TypeNumbers } from '../service/page-numbers.ts'

function fileOf(parts: readonly string[], rows: Parameters<typeof toCsv>[0]) {
  const name = parts.join('-').replaceAll(/[^\w.]+/g, '-')
  // Spreadsheets read UTF-8 only with a byte order mark.
  return { name: `${name.slice(0, 100)}.csv`, text: `\ufeff${toCsv(rows)}` }
}

/** The units of a chart. @param about the words of the file's name */
export function chartCsv(about: readonly string[], { first, last, points, keys = [], ages }: TypeNumbers['chart']) {
  if (ages) {
    const length = Math.max(...ages.map(({ counts }) => counts.length))
    const rows = Array.from({ length }, (_, day) => [day + 1, ...ages.map(({ counts }) => counts[day] ?? null)])
    return fileOf([...about, 'by-age'], [['day', ...ages.map(({ key }) => key)], ...rows])
  }
  const columns = (['count', 'before', 'also'] as const).filter(
    (name) => name === 'count' || points.some((point) => point[name] != null),
  )
  const rows = points.flatMap((point) =>
    point.count === null ? [] : [[point.start, ...columns.map((name) => point[name] ?? null), ...(point.parts ?? [])]],
  )
  const ofKeys = keys.map((key) => key ?? 'other keys')
  return fileOf([...about, first, last], [['start', ...columns, ...ofKeys], ...rows])
}

/** The counters of a list. */
export function listCsv({ name }: CounterType, find: string, { list, chart }: TypeNumbers) {
  const hasVisitors = list.counters.some(({ also }) => also !== undefined)
  const fields = (['count', 'also', 'compared', 'before'] as const).filter((field) => hasVisitors || field !== 'also')
  const head = ['key', ...fields.map((field) => (field === 'also' ? 'visitors' : field))]
  const rows = list.counters.map((counter) => [counter.key, ...fields.map((field) => counter[field] ?? null)])
  return fileOf([name, find || 'keys', chart.first, chart.last], [head, ...rows])
}
