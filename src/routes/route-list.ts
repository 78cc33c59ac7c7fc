import type { Hono } from 'hono'
import type { BlankEnv, ExtractSchema } from 'hono/types'
import type { Operation } from '../openapi/contract.ts'
import { badges, jsonBadgeContract, jsonTotalBadgeContract, svgBadgeContract, svgTotalBadgeContract } from './badge.ts'
import { charts, counterChartContract, totalChartContract } from './chart.ts'
import { check } from './check.ts'
import { counter, counters, readContract, readManyContract, totalOfTypeContract, typeTotal } from './counters.ts'
import { countingBadgeContract, countingBadges } from './counting-badge.ts'
import { dashboard } from './dashboard.ts'
import { downloadContract, downloads } from './download.ts'
import { exportCountsContract, exports } from './export.ts'
import { firstRun } from './first-run.ts'
import { health, readHealthContract } from './health.ts'
import { counterHistory, historyOfCounterContract, historyOfTypeContract, typeHistory } from './history.ts'
import { getPixelContract, hit, postHitContract } from './hit.ts'
import { addImportContract, imports } from './import.ts'
import { increment, incrementContract, incrementManyContract, increments } from './increment.ts'
import { metrics, readMetricsContract } from './metrics.ts'
import { deleteCounterContract, deletion, mergeContract, merging, renameContract, renaming } from './move.ts'
import { numbers } from './numbers.ts'
import { docsContract, reference } from './reference.ts'
import { rollUpOnceContract, rollup } from './rollup.ts'
import { search, searchKeysContract } from './search.ts'
import { set, setCountContract } from './set.ts'
import { makeTablesContract, readSetupContract, setup, setupState } from './setup.ts'
import { shown, shownContract } from './shown.ts'
import { stats } from './stats.ts'
import { readStatusContract, status } from './status.ts'
import { top, topCountersContract } from './top.ts'
import { verify, verifyCountsContract } from './verify.ts'

/** The routes that programs call: those of the typed client. */
export const PROGRAM_ROUTES = [
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
] as const

/** The routes that browsers call. */
export const BROWSER_ROUTES = [
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
] as const

/** All contracts, in the order of the documentation. The Worker never calls it, so that no bundle contains it. */
export const contracts = (): Operation[] => [
  postHitContract(),
  getPixelContract(),
  readHealthContract(),
  incrementManyContract(),
  incrementContract(),
  readContract(),
  readManyContract(),
  shownContract(),
  setCountContract(),
  deleteCounterContract(),
  renameContract(),
  mergeContract(),
  addImportContract(),
  historyOfCounterContract(),
  totalOfTypeContract(),
  historyOfTypeContract(),
  topCountersContract(),
  searchKeysContract(),
  exportCountsContract(),
  readStatusContract(),
  readMetricsContract(),
  rollUpOnceContract(),
  verifyCountsContract(),
  readSetupContract(),
  makeTablesContract(),
  downloadContract(),
  svgTotalBadgeContract(),
  jsonTotalBadgeContract(),
  svgBadgeContract(),
  jsonBadgeContract(),
  totalChartContract(),
  counterChartContract(),
  countingBadgeContract(),
  docsContract(),
]

/** For a typed client, `hc<App>(url)`. `npm run build` writes it to dist/client.d.ts. */
export type App = Hono<BlankEnv, ExtractSchema<(typeof PROGRAM_ROUTES)[number]>, '/'>
