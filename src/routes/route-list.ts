import type { Hono } from 'hono'
import type { BlankEnv, ExtractSchema } from 'hono/types'
import { badges } from './badge.ts'
import { counter, counters } from './counters.ts'
import { countingBadges } from './counting-badge.ts'
import { dashboard } from './dashboard.ts'
import { downloads } from './download.ts'
import { exports } from './export.ts'
import { health } from './health.ts'
import { counterHistory, typeHistory } from './history.ts'
import { hit } from './hit.ts'
import { imports } from './import.ts'
import { increment, increments } from './increment.ts'
import { deletion, merging, renaming } from './move.ts'
import { numbers } from './numbers.ts'
import { reference } from './reference.ts'
import { rollup } from './rollup.ts'
import { search } from './search.ts'
import { set } from './set.ts'
import { setup, setupState } from './setup.ts'
import { stats } from './stats.ts'
import { status } from './status.ts'
import { top } from './top.ts'
import { typeTotal } from './type-total.ts'
import { verify } from './verify.ts'

/** The routes that programs call, in the order of the documentation. The typed client knows exactly these. */
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
  typeTotal,
  typeHistory,
  top,
  search,
  exports,
  status,
  rollup,
  verify,
  setupState,
  setup,
] as const

/** The routes that browsers call. */
export const BROWSER_ROUTES = [downloads, badges, countingBadges, dashboard, numbers, reference, stats] as const

/** What a typed client knows of this Worker: `hc<App>(url)`. `npm run build` writes it to dist/client.d.ts. */
export type App = Hono<BlankEnv, ExtractSchema<(typeof PROGRAM_ROUTES)[number]>, '/'>
