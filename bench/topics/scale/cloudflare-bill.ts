import { putFigures } from '../../report/figure-blocks.ts'
import { renderTable } from '../../report/markdown-table.ts'
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
/** Average hits a second of the table in docs/deploy.md, and what PlanetScale takes for them. */
const RATES: readonly [number, string][] = [
  [1, '**from $39**'],
  [100, '**from $39**'],
  [10_000, 'a larger size'],
]

/** CPU microseconds of a hit. */
export interface HitCpu {
  /** Of the cheapest and of the dearest form, in a busy isolate. */
  busy: readonly [number, number]
  /** Where each hit is alone. */
  alone: number
}

/** What was measured; `null` if it was not. */
export function hitCpuIn(results: Results): HitCpu | null {
  const hotKey = results['hot-key']?.runs ?? []
  const forms = ['POST /hit', 'POST /hit?…', 'GET /hit.gif'].map((form) => medianOf(hotKey, form, 'cpuMicros'))
  const alone = medianOf(results.idle?.runs ?? [], 'POST /hit', 'cpuMicros')
  const cpu: HitCpu = { busy: [Math.min(...forms), Math.max(...forms)], alone }
  return [...cpu.busy, alone].every(Number.isFinite) ? cpu : null
}

/** A month on Cloudflare's paid plan. */
export interface Bill {
  requests: number
  requestDollars: number
  /** Of a hit: of the dearest form. */
  micros: number
  cpuMs: number
  cpuDollars: number
  /** Together with the plan. */
  dollars: number
}

/** The bill for hits at this average rate, and for the cron triggers. */
export function billOf(hitsPerSecond: number, { busy, alone }: HitCpu): Bill {
  const micros = hitsPerSecond < BUSY_FROM ? alone : busy[1]
  const requests = hitsPerSecond * MONTH_S + CRONS_A_MONTH
  const cpuMs = (hitsPerSecond * MONTH_S * micros) / 1_000
  const requestDollars = (Math.max(0, requests - INCLUDED_REQUESTS) / 1e6) * PRICES.workerRequests
  const cpuDollars = (Math.max(0, cpuMs - INCLUDED_CPU_MS) / 1e6) * PRICES.workerCpuMs
  return { requests, requestDollars, micros, cpuMs, cpuDollars, dollars: PLAN_DOLLARS + requestDollars + cpuDollars }
}

const number = (value: number, digits: number) =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const short = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US')
const money = (dollars: number) => (dollars === 0 ? '0' : `$${number(dollars, 2)}`)
const millions = (value: number) => `${Number((value / 1e6).toPrecision(4)).toLocaleString('en-US')} million`

function costs(cpu: HitCpu): string {
  const rows = RATES.map(([hitsPerSecond, planetscale]) => {
    const { requests, requestDollars, cpuMs, cpuDollars, dollars } = billOf(hitsPerSecond, cpu)
    return [
      hitsPerSecond.toLocaleString('en-US'),
      millions(requests),
      money(requestDollars),
      `${millions(cpuMs)} ms`,
      money(cpuDollars),
      `**${money(dollars)}**`,
      planetscale,
    ]
  })
  const headings = ['hits a second, all day', 'requests a month', 'for requests', 'CPU time', 'for CPU time']
  return (
    `The table is about hits and cron triggers, and a month has 30 days (2,592,000 s). The CPU time of a hit was measured\n` +
    `([benchmarks](../bench/README.md)): ${short(cpu.busy[0])} to ${short(cpu.busy[1])} µs in a busy isolate, and ${short(cpu.alone)} µs where each hit is alone. From ${number(BUSY_FROM, 0)} hits a\n` +
    `second on, the table uses ${short(cpu.busy[1])} µs, below that ${short(cpu.alone)} µs.\n\n` +
    renderTable([...headings, 'Cloudflare, a month', 'PlanetScale, a month'], rows)
  )
}

/**
 * Puts what Cloudflare costs into docs/deploy.md.
 *
 * @throws {Error} if a marker is missing
 */
export function renderDeployFigures(document: string, results: Results): string {
  const cpu = hitCpuIn(results)
  return putFigures(document, 'docs/deploy.md', { costs: cpu && costs(cpu) })
}
