import type { Deployment } from '../../harness/deployment.ts'

/**
 * Finds tables that do not hold what was moved exactly once.
 *
 * @param moved the sum of all counts moved
 */
export async function findViolations({ server, database, sum }: Deployment, moved: number): Promise<string[]> {
  const wrong: string[] = []
  const expectSum = (what: string, found: number, expected: number) => {
    if (found !== expected) wrong.push(`${what} hold ${found} instead of ${expected}`)
  }
  expectSum('slots', await sum('slotted_counters'), 0)
  expectSum('totals', await sum('counters'), moved)
  for (const [table, periods] of [
    ['counter_history', 1],
    ['counter_periods', 2],
    ['type_history', 3],
  ] as const) {
    const [row] = await server.query(`SELECT SUM(count) AS sum FROM \`${database}\`.${table}`)
    expectSum(table, Number(row!.sum), periods * moved)
  }
  return wrong
}
