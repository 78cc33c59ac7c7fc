import { renderTable } from '../../report/markdown-table.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import { alternatives, HOT, named } from './alternatives.ts'
import { OBJECT, PRODUCT, REDIS, ROW } from './candidates.ts'
import { errorsOf, faults } from './faults.ts'

/** What others do, in a table for the first screen; `null` if that was not measured. */
export function renderOthers(results: Results): string | null {
  const [speed, errors] = [results[alternatives.name], results[faults.name]]
  if (speed === undefined || errors === undefined) return null
  return renderTable(
    ['', 'hits/s, one key', 'Worker killed'],
    [PRODUCT, REDIS, OBJECT, ROW].map((candidate) => [
      candidate.name,
      rounded(medianOf(speed.runs, named(candidate, HOT), 'perSecond')),
      errorsOf(errors.runs, candidate, 'Worker killed'),
    ]),
  )
}
