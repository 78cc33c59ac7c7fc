import { renderTable, withoutEmptyColumns } from '../../report/markdown-table.ts'
import type { Results } from '../../report/results.ts'
import { alternatives, figureOf, HOT, KILLED_HEADINGS, killedFigures, named } from './alternatives.ts'
import { OBJECT, PRODUCT, REDIS, REDIS_SECOND, ROW } from './candidates.ts'
import { errorsOf, faults } from './faults.ts'
import { NGINX } from './killed.ts'

/** What others do, in a table for the first screen; `null` if that was not measured. */
export function renderOthers(results: Results): string | null {
  const [speed, errors] = [results[alternatives.name], results[faults.name]]
  if (speed === undefined || errors === undefined) return null
  const rows = [PRODUCT, REDIS, REDIS_SECOND, OBJECT, ROW, NGINX].map((way) => [
    way.name,
    figureOf(speed.runs, named(way, HOT), 'perSecond'),
    ...killedFigures(speed.runs, way.name),
    'worker' in way ? errorsOf(errors.runs, way, 'Worker killed') : '–',
  ])
  const { headings, rows: kept } = withoutEmptyColumns(
    ['', 'hits/s, one key', ...KILLED_HEADINGS, 'Worker killed, hits retried'],
    rows.filter(([, perSecond]) => perSecond !== '–'),
  )
  return renderTable(headings, kept)
}
