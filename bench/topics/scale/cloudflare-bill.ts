import { medianOf } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import { PRICES } from '../alternatives/cloudflare-prices.ts'

/** Seconds of a month of 30 days. */
export const MONTH_S = 30 * 86_400
/** Average hits a second from which on isolates count as busy. */
const BUSY_FROM = 1_000
const CRONS_A_MONTH = 2_160 * 30
const PLAN_DOLLARS = 5
const INCLUDED_REQUESTS = 10e6
const INCLUDED_CPU_MS = 30e6

/** CPU microseconds of a hit. */
export interface HitCpu {
  /** Of the dearest form, in a busy isolate. */
  busy: number
  /** Where each hit is alone. */
  alone: number
}

/** What was measured; `null` if it was not. */
export function hitCpuIn(results: Results): HitCpu | null {
  const hotKey = results['hot-key']?.runs ?? []
  const forms = ['POST /hit', 'POST /hit?…', 'GET /hit.gif'].map((form) => medianOf(hotKey, form, 'cpuMicros'))
  const alone = medianOf(results.idle?.runs ?? [], 'POST /hit', 'cpuMicros')
  const busy = Math.max(...forms)
  return Number.isFinite(busy + alone) ? { busy, alone } : null
}

/** What a month on Cloudflare's paid plan costs in dollars, for hits at this average rate and the cron triggers. */
export function dollarsOf(hitsPerSecond: number, { busy, alone }: HitCpu): number {
  const micros = hitsPerSecond < BUSY_FROM ? alone : busy
  const requests = hitsPerSecond * MONTH_S + CRONS_A_MONTH
  const cpuMs = (hitsPerSecond * MONTH_S * micros) / 1_000
  const requestDollars = (Math.max(0, requests - INCLUDED_REQUESTS) / 1e6) * PRICES.workerRequests
  const cpuDollars = (Math.max(0, cpuMs - INCLUDED_CPU_MS) / 1e6) * PRICES.workerCpuMs
  return PLAN_DOLLARS + requestDollars + cpuDollars
}
