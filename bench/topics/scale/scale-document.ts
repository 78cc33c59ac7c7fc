import { PLANS } from '../../../src/plans.ts'
import { type FigureBlocks, putFigures } from '../../report/figure-blocks.ts'
import { renderTable } from '../../report/markdown-table.ts'
import type { Results } from '../../report/results.ts'
import { dollarsOf, type HitCpu, hitCpuIn, MONTH_S } from './cloudflare-bill.ts'
import { PLACEMENTS, type Placement, RATES, SHARDS, shardsOf } from './loads.ts'
import { LARGE_TABLE_GB, LIMITS, type Limit, rateAtLimit, Sizing } from './sizing.ts'

/** Average hits a second from which on the table advises placement. */
const PLACED_FROM = 30
/** Average hits a second from which on the table advises the paid plan: 26 million requests a month. */
const PAID_FROM = 10
/** The rates in the tables: beyond, prices are not listed, and the product would have to change. */
const SHOWN = RATES.filter((rate) => rate <= 10_000)
/** Numbers of shards to choose from. More than 16 are not simulated. */
const SHARDS_TO_TRY = [...SHARDS, 32, 64]
const { rollUp, pruning } = PLANS.paid

const dollars = (number: number) => `$${Math.round(number).toLocaleString('en-US')}`
const short = (number: number) => Number(number.toPrecision(2)).toLocaleString('en-US', { maximumFractionDigits: 2 })

/** What a site needs. */
interface Need {
  placement: Placement
  shards: number
  /** What it takes beyond settings: the roll-up, or pruning, does not keep up. */
  beyond: string[]
  database: NonNullable<ReturnType<Sizing['database']>>
}

/** The fewest shards that hold, or else the fewest that come closest. The Worker is placed near the database. */
function needOf(sizing: Sizing, average: number): Need | null {
  const needs = SHARDS_TO_TRY.flatMap((shards): Need[] => {
    const placement = 'placed'
    const database = sizing.database(placement, shards, average)
    if (database === null) return []
    const beyond: string[] = []
    const isRollUpBeyond =
      sizing.rollUpSeconds(placement, shards, average) > rollUp.maxSeconds ||
      sizing.rollUpStatements(placement, shards, average) > rollUp.maxStatements
    if (isRollUpBeyond) beyond.push('roll-up')
    if (sizing.pruningSeconds(placement, shards, average) > pruning.maxSeconds) beyond.push('pruning')
    if (sizing.slotsGb(placement, shards, average) > LARGE_TABLE_GB) beyond.push('size')
    return [{ placement, shards, beyond, database }]
  })
  return needs.sort((a, b) => a.beyond.length - b.beyond.length)[0] ?? null
}

/** What sites with so many hits a second need; `null` if that was not measured. */
function renderNeeds(results: Results, rates: readonly number[]): string | null {
  const sizing = new Sizing(results)
  const cpu = hitCpuIn(results)
  return sizing.complete && cpu !== null ? needsTable(sizing, cpu, rates) : null
}

/** What sites of a few sizes pay, in a sentence; `null` if that was not measured. */
export function billOf(results: Results): string | null {
  const sizing = new Sizing(results)
  const cpu = hitCpuIn(results)
  if (!sizing.complete || cpu === null) return null
  const bills = [1, 10, 100].flatMap((average) => {
    const database = needOf(sizing, average)?.database
    if (database === undefined) return []
    const month = `${short((average * MONTH_S) / 1e6)} million hits`
    return [`${month}: ${dollars(dollarsOf(average, cpu))} and ${dollars(database.dollars)}`]
  })
  return `A month of Cloudflare and PlanetScale, in a simulation. ${bills.join('; ')}.`
}

function needsTable(sizing: Sizing, cpu: HitCpu, rates: readonly number[]): string {
  const rows = rates.map((average) => {
    const need = needOf(sizing, average)
    const month = `${short((average * MONTH_S) / 1e6)} million`
    const cloudflare = dollars(dollarsOf(average, cpu))
    const rate = average.toLocaleString('en-US')
    if (need === null) return [rate, month, `more than ${shardsOf(SHARDS_TO_TRY.at(-1)!)}`, '–', cloudflare, '–', '–']
    const { shards, beyond, database } = need
    const settings = average < PLACED_FROM ? ['the defaults'] : ['placement']
    if (average >= PAID_FROM) settings.push('`PLAN = "paid"`')
    if (shards > 1) settings.push(`**${shardsOf(shards)}**`)
    if (beyond.length > 0) settings.push(`**and a change to the product** (${beyond.join(', ')})`)
    return [
      rate,
      month,
      settings.join(', '),
      `${shards > 1 ? `${shards} × ` : ''}${database.size}`,
      cloudflare,
      database.isListed ? dollars(database.dollars) : `about $${short(database.dollars)}`,
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

/** What breaks first beyond the table, and at which rate. The Worker is placed near the database. */
function afterText(sizing: Sizing): string {
  const rate = (limit: Limit, shards: number) => rateAtLimit(sizing, limit, 'placed', shards) ?? Infinity
  const { rollUpSeconds, rollUpStatements } = LIMITS
  const statements = rollUp.maxStatements.toLocaleString('en-US')
  return (
    'The roll-up breaks first, because one invocation must move each minute’s counts within a minute. With one shard, it reaches its limit of ' +
    `${rollUp.maxSeconds} s at ${short(rate(rollUpSeconds, 1))} hits a second; with four or more, its limit of ${statements} statements at ` +
    `${short(Math.min(...SHARDS.slice(1).map((shards) => rate(rollUpStatements, shards))))}. Beyond that, no setting helps. ` +
    'Counts stay exact, but exact reads slow down, and totals and rankings age.'
  )
}

/** What a hit costs on average, with one shard. */
function statementsTable(sizing: Sizing): string {
  const rows = SHOWN.map((rate) => [
    rate.toLocaleString('en-US'),
    ...PLACEMENTS.flatMap((placement) => {
      const of = (figure: Parameters<Sizing['figure']>[3]) => sizing.figure(placement, 1, rate, figure)
      const perHit = (figure: 'hitStatementsPerSecond' | 'nameStatementsPerSecond') => (of(figure) / rate).toFixed(2)
      return [
        `${perHit('hitStatementsPerSecond')} + ${perHit('nameStatementsPerSecond')}`,
        `${short(of('p50Ms'))} / ${short(of('p99Ms'))}`,
      ]
    }),
  ])
  return renderTable(
    ['hits a second', ...PLACEMENTS.flatMap((placement) => [`${placement}: counts + names`, 'ms (median / p99)'])],
    rows,
  )
}

/**
 * Puts the figures into docs/scale.md, each block between its markers. Blocks whose figures were not measured stay as they are.
 *
 * @throws {Error} if a marker is missing
 */
export function renderScaleDocument(document: string, results: Results): string {
  const sizing = new Sizing(results)
  const blocks: FigureBlocks = {
    needs: renderNeeds(results, [1, ...SHOWN]),
    statements: sizing.complete ? statementsTable(sizing) : null,
    after: sizing.complete ? afterText(sizing) : null,
  }
  return putFigures(document, 'docs/scale.md', blocks)
}
