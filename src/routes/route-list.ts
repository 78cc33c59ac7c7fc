import { badges, countingBadges } from './badge.ts'
import { charts } from './chart.ts'
import { check } from './check.ts'
import { counter, counters, typeTotal } from './counters.ts'
import { dashboard } from './dashboard.ts'
import { downloads } from './download.ts'
import { exports } from './export.ts'
import { firstRun } from './first-run.ts'
import { health } from './health.ts'
import { counterHistory, typeHistory } from './history.ts'
import { hit } from './hit.ts'
import { imports } from './import.ts'
import { increment, increments } from './increment.ts'
import { metrics } from './metrics.ts'
import { deletion, merging, renaming } from './move.ts'
import { numbers } from './numbers.ts'
import { reference } from './reference.ts'
import { repairing } from './repair.ts'
import { rollup } from './rollup.ts'
import { search } from './search.ts'
import { set } from './set.ts'
import { setup, setupState } from './setup.ts'
import { shown } from './shown.ts'
import { stats } from './stats.ts'
import { status } from './status.ts'
import { top } from './top.ts'
import { verify } from './verify.ts'

/** All routes. */
export const ROUTES = [
  hit,
  health,
  increments,
  increment,
  counter,
  counters,
  set,
  deletion,
  renaming,
  merging,
  repairing,
  imports,
  counterHistory,
  shown,
  typeTotal,
  typeHistory,
  top,
  search,
  exports,
  status,
  metrics,
  rollup,
  verify,
  setupState,
  setup,
  downloads,
  badges,
  charts,
  countingBadges,
  dashboard,
  firstRun,
  check,
  numbers,
  reference,
  stats,
]
