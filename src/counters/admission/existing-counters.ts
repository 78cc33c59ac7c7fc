import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { type CounterAddress, counterId } from '../counter-address.ts'
import { counterListsSql } from '../counter-lists-sql.ts'

/**
 * Finds out which counters do not exist. A counter has a name from its first count on, and a total from the first roll-up, setting
 * or import on. Only a counter that has neither is looked for among the pending slots: it has few of them, others may have many.
 * Its name could not be stored yet. Empty slots are no sign: a renamed counter leaves some.
 *
 * @param counters each once
 */
export async function findMissing(db: Executor, counters: readonly CounterAddress[]): Promise<CounterAddress[]> {
  const settled = await find(
    db,
    counters,
    (list) =>
      `SELECT record_type, record_id FROM counter_names FORCE INDEX (PRIMARY) WHERE ${list}
       UNION ALL SELECT record_type, record_id FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${list}`,
  )
  const young = counters.filter((counter) => !settled.has(counterId(counter)))
  if (young.length === 0) return []
  const pending = await find(
    db,
    young,
    (list) =>
      `SELECT DISTINCT record_type, record_id FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND ${list}`,
  )
  return young.filter((counter) => !pending.has(counterId(counter)))
}

async function find(
  db: Executor,
  counters: readonly CounterAddress[],
  selectOf: (list: string) => string,
): Promise<Set<string>> {
  const { rows } = await db.execute(counterListsSql(counters).map(selectOf).join(' UNION ALL '))
  return new Set(
    rows.map(({ record_type, record_id }) =>
      counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) }),
    ),
  )
}
