import { PLANS } from '../../../src/config/plan.ts'
import { judge } from '../../report/comparison.ts'
import { type FigureBlocks, putFigures } from '../../report/figure-blocks.ts'
import { renderTable } from '../../report/markdown-table.ts'
import { median, medianOf, rounded } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import { billOf, type HitCpu, hitCpuIn, MONTH_S } from './cloudflare-bill.ts'
import { PLACEMENTS, type Placement, RATES, SHARDS } from './loads.ts'
import { scaleCheck } from './scale-check.ts'
import { AS_SHIPPED, ISOLATES, LANES, OBJECTS, PACES, scaleSpread, spreadName } from './scale-spread.ts'
import {
  DEFAULT_HOURS,
  FEWEST_HOURS,
  LARGE_TABLE_GB,
  LIMITS,
  objectsDollars,
  peakOf,
  processorsDollars,
  rateAtLimit,
  Sizing,
} from './sizing.ts'

/** Average hits a second from which on the table advises placement. */
const PLACED_FROM = 30
/** Average hits a second from which on the table advises the paid plan: 26 million requests a month. */
const PAID_FROM = 10
/** Hits a second of `scale-spread`. */
const SPREAD_RATE = 10_000
/** Loads whose limits are listed. */
const LOADS = [10_000, 100_000, 1_000_000]
/** Numbers of shards to choose from. More than 16 are not simulated. */
const SHARDS_TO_TRY = [...SHARDS, 32, 64]
const { ROLLUP, PRUNING } = PLANS.paid

const dollars = (number: number) => `$${Math.round(number).toLocaleString('en-US')}`
const short = (number: number) => Number(number.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 2 })
const shardsOf = (shards: number) => (shards === 1 ? '1 shard' : `${shards} shards`)

/** What a site needs. */
interface Need {
  placement: Placement
  shards: number
  hours: number
  /** What it takes beyond settings: the roll-up, or pruning, does not keep up. */
  beyond: string[]
  database: NonNullable<ReturnType<Sizing['database']>>
}

/** The fewest shards that hold, or else the fewest that come closest. The Worker is placed near the database. */
function needOf(sizing: Sizing, average: number): Need | null {
  const needs = SHARDS_TO_TRY.flatMap((shards): Need[] => {
    const placement = 'placed'
    const hours =
      sizing.slotsGb(placement, shards, average, DEFAULT_HOURS) <= LARGE_TABLE_GB ? DEFAULT_HOURS : FEWEST_HOURS
    const database = sizing.database(placement, shards, average, hours)
    if (database === null) return []
    const beyond: string[] = []
    if (sizing.rollUpSeconds(placement, shards, average) > ROLLUP.max_seconds) beyond.push('roll-up')
    if (sizing.pruningSeconds(placement, shards, average) > PRUNING.max_seconds) beyond.push('pruning')
    if (sizing.slotsGb(placement, shards, average, hours) > LARGE_TABLE_GB) beyond.push('size')
    return [{ placement, shards, hours, beyond, database }]
  })
  return needs.sort((a, b) => a.beyond.length - b.beyond.length)[0] ?? null
}

function needsTable(sizing: Sizing, cpu: HitCpu): string {
  const rows = [1, ...RATES].map((average) => {
    const need = needOf(sizing, average)
    const month = `${short((average * MONTH_S) / 1e6)} million`
    const cloudflare = dollars(billOf(average, cpu).dollars)
    const rate = average.toLocaleString('en-US')
    if (need === null) return [rate, month, `more than ${shardsOf(SHARDS_TO_TRY.at(-1)!)}`, '–', cloudflare, '–', '–']
    const { shards, hours, beyond, database } = need
    const settings = average < PLACED_FROM ? ['the defaults'] : ['placement near the database']
    if (average >= PAID_FROM) settings.push('`PLAN = "paid"`')
    if (hours !== DEFAULT_HOURS) settings.push(`\`idempotency_hours = ${hours}\``)
    if (sizing.rollUpStatements('placed', shards, average) > ROLLUP.max_statements)
      settings.push('`page_slots = 20000`')
    if (shards > 1) settings.push(`**${shardsOf(shards)}**`)
    if (beyond.length > 0) settings.push(`**and a change of the product** (${beyond.join(', ')})`)
    return [
      rate,
      month,
      settings.join(', '),
      `${shards > 1 ? `${shards} × ` : ''}${database.size}`,
      cloudflare,
      database.size === 'PS-10' ? dollars(database.dollars) : `about $${short(database.dollars)}`,
      `${short(database.gb)} GB`,
    ]
  })
  return renderTable(
    [
      'hits a second',
      'hits a month',
      'what you need',
      'database',
      'Cloudflare, a month',
      'database, a month',
      'size after a year',
    ],
    rows,
  )
}

function limitsTable(sizing: Sizing): string {
  const cells = LIMITS.map((limit) => {
    const rates = PLACEMENTS.flatMap((placement) =>
      SHARDS.map((shards) => rateAtLimit(sizing, limit, placement, shards)),
    )
    return { limit, rates }
  }).sort((a, b) => (a.rates[SHARDS.length] ?? Infinity) - (b.rates[SHARDS.length] ?? Infinity))
  return renderTable(
    [
      'limit',
      ...PLACEMENTS.flatMap((placement) => SHARDS.map((shards) => `${placement}, ${shardsOf(shards)}`)),
      'what helps',
    ],
    cells.map(({ limit, rates }) => [
      limit.name,
      ...rates.map((rate) => (rate === null ? '–' : short(rate))),
      limit.remedy,
    ]),
  )
}

function breaksList(sizing: Sizing): string {
  const reached = LIMITS.filter(({ name }) => !name.startsWith('1 processor'))
    .map((limit) => ({ limit, rate: rateAtLimit(sizing, limit, 'placed', 1) ?? Infinity }))
    .sort((a, b) => a.rate - b.rate)
  return LOADS.map((average, n) => {
    const before = LOADS[n - 1] ?? 0
    const here = reached
      .filter(({ rate }) => rate >= before && rate < average)
      .map(({ limit, rate }) => `  - from ${short(rate)} hits/s: ${limit.name}. What helps: ${limit.remedy}.`)
    const earlier = reached.some(({ rate }) => rate < before)
    const limits =
      here.length > 0 ? (earlier ? 'These limits, too:' : 'Limits:') : earlier ? '' : 'No limit is reached.'
    const processors = short(sizing.processors('placed', 1, average))
    const load = `- **${average.toLocaleString('en-US')} hits/s**: statements take ${processors} processors at the peak. ${limits}`
    return [load.trimEnd(), ...here].join('\n')
  }).join('\n')
}

function reachesTable(sizing: Sizing): string {
  const rows = PLACEMENTS.flatMap((placement) =>
    RATES.flatMap((rate) =>
      SHARDS.filter((shards) => shards === 1 || rate >= 10_000).map((shards) => {
        const of = (figure: Parameters<Sizing['figure']>[3]) => sizing.figure(placement, shards, rate, figure)
        const average = rate / peakOf(1)
        return [
          rate.toLocaleString('en-US'),
          placement,
          String(shards),
          short(of('hitStatementsPerSecond')),
          short(of('nameStatementsPerSecond')),
          short(of('rowsWrittenPerSecond')),
          short(of('pendingSlots')),
          short(of('pendingPerCounter')),
          short(of('pendingOfBusiest')),
          short(sizing.rollUpSeconds(placement, shards, average)),
          short(sizing.rollUpStatements(placement, shards, average)),
          short(of('slotsOfDay')),
          `${short(of('p50Ms'))} / ${short(of('p99Ms'))}`,
        ]
      }),
    ),
  )
  return renderTable(
    [
      'hits/s',
      'Worker',
      'shards',
      'statements with hits/s',
      'with names/s',
      'slots written/s',
      'pending slots after a minute',
      'per counter',
      'of the busiest',
      'roll-up, s',
      'its statements',
      'slots of a day',
      'hit, ms (median / p99)',
    ],
    rows,
  )
}

function spreadText({ runs }: Results[string]): string {
  const of = (way: Parameters<typeof spreadName>[0], isolates: number, figure: Parameters<typeof medianOf>[2]) =>
    medianOf(runs, spreadName(way, isolates), figure)
  const [few, many] = [ISOLATES[0]!, ISOLATES.at(-1)!]
  const rows = [
    ...[AS_SHIPPED, ...LANES, ...PACES].flatMap((way) => [few, many].map((isolates) => [way, isolates] as const)),
    [OBJECTS, few] as const,
  ].map(([way, isolates]) => [
    way.name,
    way === OBJECTS ? 'any' : isolates.toLocaleString('en-US'),
    short(SPREAD_RATE / of(way, isolates, 'hitStatementsPerSecond')),
    short(of(way, isolates, 'rowsWrittenPerSecond')),
    short(of(way, isolates, 'processors')),
    short(of(way, isolates, 'pendingSlots')),
    short(of(way, isolates, 'slotsOfDay')),
    short(of(way, isolates, 'p50Ms')),
  ])
  const saved = of(AS_SHIPPED, many, 'processors') - of(OBJECTS, few, 'processors')
  return [
    renderTable(
      [
        '',
        'isolates',
        'hits per statement',
        'slots written/s',
        'processors to write',
        'pending slots',
        'slots of a day',
        'hit, ms',
      ],
      rows,
    ),
    `Durable Objects in ${few} locations would cost ${dollars(objectsDollars(SPREAD_RATE, few))} a month at list prices. Compared with ${many.toLocaleString('en-US')} isolates, they ` +
      `save ${short(saved)} processors, which cost about ${dollars(processorsDollars(saved))}.`,
  ].join('\n')
}

function checkText({ runs }: Results[string]): string {
  const rows = scaleCheck.comparisons
    .filter((_, n) => n % 2 === 0)
    .map((statements, n) => {
      const pending = scaleCheck.comparisons[2 * n + 1]!
      const value = (name: string, figure: 'statementsPer1000' | 'pendingSlots') => medianOf(runs, name, figure)
      const ratio = (comparison: typeof statements) => judge(comparison, runs).median.toFixed(2)
      return [
        statements.of.replace('model: ', ''),
        `${short(value(statements.to!, 'statementsPer1000') / 1_000)} / ${short(value(statements.of, 'statementsPer1000') / 1_000)} (${ratio(statements)} ×)`,
        `${rounded(value(pending.to!, 'pendingSlots'))} / ${rounded(value(pending.of, 'pendingSlots'))} (${ratio(pending)} ×)`,
      ]
    })
  const off = scaleCheck.comparisons.map((comparison) => Math.abs(judge(comparison, runs).median - 1) * 100)
  return [
    renderTable(
      ['load and network latency', 'statements per hit: workerd / model', 'pending slots: workerd / model'],
      rows,
    ),
    `The model is off by at most ${short(Math.max(...off))} % (median: ${short(median(off))} %).`,
  ].join('\n')
}

/**
 * Puts the figures into docs/scale.md, each block between its markers. Blocks whose figures were not measured stay as they are.
 *
 * @throws {Error} if a marker is missing
 */
export function renderScaleDocument(document: string, results: Results): string {
  const sizing = new Sizing(results)
  const cpu = hitCpuIn(results)
  const [spread, check] = [results[scaleSpread.name], results[scaleCheck.name]]
  const blocks: FigureBlocks = {
    needs: sizing.complete && cpu !== null ? needsTable(sizing, cpu) : null,
    breaks: sizing.complete ? breaksList(sizing) : null,
    limits: sizing.complete ? limitsTable(sizing) : null,
    reaches: sizing.complete ? reachesTable(sizing) : null,
    spread: spread === undefined ? null : spreadText(spread),
    check: check === undefined ? null : checkText(check),
  }
  return putFigures(document, 'docs/scale.md', blocks)
}
