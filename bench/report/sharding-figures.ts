import type { FigureName } from '../harness/figure-names.ts'
import { putFigures } from './figure-blocks.ts'
import { renderTable } from './markdown-table.ts'
import { medianOf } from './medians.ts'
import type { Results } from './results.ts'

/** Seconds of every minute that a roll-up may take on the paid plan. */
const ROLL_UP_SECONDS = 50

const short = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US')

function serverFigures(results: Results): string | null {
  const of = (topic: string, variant: string, figure: FigureName) =>
    medianOf(results[topic]?.runs ?? [], variant, figure)
  const hits = (topic: string, variant: string) => [
    of(topic, variant, 'perSecond'),
    of(topic, variant, 'statementsPer1000'),
  ]
  const [one, oneStatements] = hits('hot-key', 'POST /hit?…') as [number, number]
  const [many, manyStatements] = hits('many-keys', 'group commit') as [number, number]
  const alone = of('direct', 'our key, a slot per client: MySQL, 64 clients, REPEATABLE READ', 'perSecond')
  const [shared, spread] = [
    of('roll-up', 'roll-up', 'rowsPerSecond'),
    of('roll-up', 'roll-up, a slot each', 'rowsPerSecond'),
  ]
  if (![one, oneStatements, many, manyStatements, alone, shared, spread].every(Number.isFinite)) return null
  return (
    renderTable(
      ['one MySQL server', 'measured'],
      [
        ['hits of one key', `${short(one)}/s, with ${short(oneStatements)} statements per 1,000 hits`],
        ['hits of 10,000 keys', `${short(many)}/s, with ${short(manyStatements)} statements per 1,000 hits`],
        ['statements that count one increment each, from 64 clients', `${short(alone)}/s`],
        ['roll-up, 10 slots per counter', `${short(shared)} slots/s`],
        ['roll-up, 1 slot per counter', `${short(spread)} slots/s`],
      ],
    ) +
    `\n10,000 hits a second need ${short(10 * oneStatements)} to ${short(10 * manyStatements)} statements a second [at best](deploy.md#what-it-costs), and a small server handles\n` +
    `thousands. A roll-up has ${ROLL_UP_SECONDS} s in every minute: time for ${short(ROLL_UP_SECONDS * spread)} slots at the lower of the two rates. A slot is a counter that an\n` +
    'isolate wrote, or one visit where `dedupe_seconds` is set.'
  )
}

/**
 * Puts what one server did into docs/sharding.md.
 *
 * @throws {Error} if a marker is missing
 */
export function renderShardingFigures(document: string, results: Results): string {
  return putFigures(document, 'docs/sharding.md', { server: serverFigures(results) })
}
