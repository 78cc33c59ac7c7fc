import { median } from '../../report/medians.ts'
import type { Results, Table } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'
import type { CostName, ServerCosts } from '../../simulation/server-costs.ts'
import { COST_NAMES, type Measured, measureCosts } from './measure-costs.ts'

const COSTS = 'Processor time'
const SIZES = 'Size of a row'

/** What the product's statements cost a MySQL server, which the model of the database is made of. */
export const serverCosts: Topic = {
  name: 'server-costs',
  title: 'What do the product’s statements cost the database?',
  text:
    'The simulation needs the processor time of each statement and the bytes of a row ([server-costs.json](results/server-costs.json)). MySQL counts the ' +
    'processor time, without purge, flushing and replication.',
  variants: [],
  columns: [],
  comparisons: [],
  needs: ['mysql'],
  async once(testbed, _seconds, rounds): Promise<Table[]> {
    const measured: Measured[] = []
    for (let round = 1; round <= rounds; round++) {
      testbed.say(`server-costs: round ${round} of ${rounds} …`)
      measured.push(await measureCosts(testbed))
    }
    const { sizes } = measured.at(-1)!
    const micros = (name: CostName) => median(measured.map(({ costs }) => costs[name]))
    return [
      {
        title: COSTS,
        headings: ['figure', 'what', 'µs of a processor'],
        rows: Object.entries(COST_NAMES).map(([name, what]) => [name, what, micros(name as CostName).toFixed(2)]),
      },
      {
        title: SIZES,
        text: 'With its indexes, after inserts in random order.',
        headings: ['table', 'rows', 'bytes per row'],
        rows: sizes.map(({ table, rows, bytesPerRow }) => [table, String(rows), bytesPerRow.toFixed(0)]),
      },
    ]
  },
}

/** The costs that were measured; `null` if they were not. */
export function costsIn(results: Results): ServerCosts | null {
  const table = results[serverCosts.name]?.tables.find(({ title }) => title === COSTS)
  if (table === undefined) return null
  return Object.fromEntries(table.rows.map(([name, , micros]) => [name, Number(micros)])) as unknown as ServerCosts
}

/** Bytes of a row of each table, with its indexes, by its name; empty if they were not measured. */
export function rowBytesIn(results: Results): Record<string, number> {
  const table = results[serverCosts.name]?.tables.find(({ title }) => title === SIZES)
  return Object.fromEntries((table?.rows ?? []).map(([name, , bytes]) => [name, Number(bytes)]))
}
