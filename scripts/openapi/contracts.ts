import type { Operation } from '../../src/openapi/contract.ts'
import * as badge from '../../src/routes/badge.ts'
import * as chart from '../../src/routes/chart.ts'
import * as counters from '../../src/routes/counters.ts'
import * as countingBadge from '../../src/routes/counting-badge.ts'
import * as download from '../../src/routes/download.ts'
import * as exports from '../../src/routes/export.ts'
import * as health from '../../src/routes/health.ts'
import * as history from '../../src/routes/history.ts'
import * as hit from '../../src/routes/hit.ts'
import * as imports from '../../src/routes/import.ts'
import * as increment from '../../src/routes/increment.ts'
import * as metrics from '../../src/routes/metrics.ts'
import * as move from '../../src/routes/move.ts'
import * as reference from '../../src/routes/reference.ts'
import * as rollup from '../../src/routes/rollup.ts'
import * as search from '../../src/routes/search.ts'
import * as set from '../../src/routes/set.ts'
import * as setup from '../../src/routes/setup.ts'
import * as shown from '../../src/routes/shown.ts'
import * as status from '../../src/routes/status.ts'
import * as top from '../../src/routes/top.ts'
import * as verify from '../../src/routes/verify.ts'

/** The files of `src/routes/` that export contracts, in the order of the documentation; in each, they are in the order of their names. */
const FILES = [
  hit,
  health,
  increment,
  counters,
  shown,
  set,
  move,
  imports,
  history,
  top,
  search,
  exports,
  status,
  metrics,
  rollup,
  verify,
  setup,
  download,
  badge,
  chart,
  countingBadge,
  reference,
]

/** The contracts of all routes: what these files export as `…Contract`. */
export const contracts = (): Operation[] =>
  FILES.flatMap((file: Record<string, unknown>) =>
    Object.entries(file).flatMap(([name, make]) => (name.endsWith('Contract') ? [(make as () => Operation)()] : [])),
  )
