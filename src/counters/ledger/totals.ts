import { bucketsSql } from '../../database/buckets.ts'
import type { Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { type CounterPlace, counterId } from '../counter-address.ts'
import { counterValues, HOUR_SQL, placeOf } from '../counters-sql.ts'
import { newVersion } from '../ids.ts'
import { bytesSql } from '../keys/prefix.ts'

/** What a change has locked of a counter: its row of `counters`, if it has one. */
export interface LockedCounter {
  total: bigint
  /** `null`: it has no row. */
  version: bigint | null
  rolledUpAt: Date | null
  /** Marked as deleted or renamed, or without a row. */
  gone: boolean
}

/** An amount to add to a total. */
interface TotalChange extends CounterPlace {
  /** As read; the change is overtaken if the row has another one. `null`: there is no row, and one is made. */
  version: bigint | null
  amount: bigint
  /** Only for a new row. */
  name?: string
  /** The time of the counter's last roll-up. Default: that of the run. */
  rolledUpAt?: Date | null
  /** Whether to mark the counter as deleted. Otherwise a mark is removed. */
  gone?: boolean
}

/** Rolls a transaction back: another one changed a total first, or is about to. */
export class Overtaken extends Error {
  override message = 'other changes of the same counters came first'
}

const LARGEST = 2n ** 63n - 1n
const SMALLEST = -LARGEST

export function fitsTotal(total: bigint): boolean {
  return total <= LARGEST && total >= SMALLEST
}

/** Fails as the database would if a number left its range. @throws {DatabaseFailure} */
export function checkTotals(totals: readonly bigint[]): void {
  if (totals.every(fitsTotal)) return
  const reason = 'a total would leave the range of 64-bit integers'
  throw new DatabaseFailure({ kind: 'range', retry: false, applied: 'no' }, reason)
}

/**
 * Locks the rows of counters and returns them by `counterId`, or fails at once: a statement that exceeds its deadline leaves a transaction
 * behind, with its locks, for up to 20 s. @param counters with rows: looking for others would lock a gap, where new counters are inserted
 * @throws {Overtaken} if another transaction holds any of the locks, or has deleted a row
 */
export async function lockCounters(
  transaction: Executor,
  counters: readonly CounterPlace[],
): Promise<Map<string, LockedCounter>> {
  if (counters.length === 0) return new Map()
  try {
    const keys = counters.map(({ recordType, recordId }) => `(${recordType},${recordId})`)
    const { rows } = await transaction.execute(
      `SELECT record_type, record_id, count, version, rolled_up_at, gone_hour IS NOT NULL AS gone
       FROM counters FORCE INDEX (PRIMARY)
       WHERE (record_type, record_id) IN (${keys.join(',')})
       AND ${bucketsSql(counters.map(({ recordId }) => recordId))} FOR UPDATE NOWAIT`,
    )
    if (rows.length !== counters.length) throw new Overtaken()
    const lockedOf = ({ count, version, rolled_up_at, gone }: (typeof rows)[number]) => ({
      total: toBigInt(count),
      version: toBigInt(version),
      rolledUpAt: toDate(rolled_up_at),
      gone: Number(gone) === 1,
    })
    return new Map(rows.map((row) => [counterId(placeOf(row)), lockedOf(row)]))
  } catch (error) {
    if (!(error instanceof Overtaken) && classify(error).kind === 'contention') throw new Overtaken()
    throw error
  }
}

/**
 * Adds to totals, and increments their versions. Makes rows that do not exist. @param run the time of a roll-up, if the changes are one
 * @param changes in primary key order, each counter once @throws {Overtaken} a row or its version is not as it was read: roll back
 */
export async function addToTotals(transaction: Executor, changes: readonly TotalChange[], run: Date | null = null) {
  // Integers and times, written into the statement: see applyBatch.
  const runAt = timeSql(run)
  const values = changes.map((change) => {
    const { name, amount, version, rolledUpAt, gone = false } = change
    const at = rolledUpAt === undefined ? runAt : timeSql(rolledUpAt)
    const [key, next] = version === null ? [bytesSql(name!), newVersion()] : ["''", version + 1n]
    return `(${counterValues(change)},${key},${gone ? HOUR_SQL : 'NULL'},${amount},${next},${at})`
  })
  const { rowsAffected } = await transaction.execute(
    `INSERT INTO counters (record_type, record_id, bucket, name, gone_hour, count, version, rolled_up_at) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(version + 1 = VALUES(version), VALUES(count), 0),
       rolled_up_at = IF(version + 1 <> VALUES(version), rolled_up_at, IF(VALUES(gone_hour) IS NOT NULL, NULL,
         GREATEST(COALESCE(rolled_up_at, VALUES(rolled_up_at)), COALESCE(VALUES(rolled_up_at), rolled_up_at)))),
       gone_hour = IF(version + 1 = VALUES(version), VALUES(gone_hour), gone_hour),
       version = IF(version + 1 = VALUES(version), VALUES(version), version + (VALUES(name) <> ''))`,
  )
  // An upsert counts 2 for each row that it changed, and 1 for an insert or, with client-found-rows, an unchanged row. A row that
  // was to be made but exists is changed, and so counts 2.
  const made = changes.filter(({ version }) => version === null).length
  if (rowsAffected !== 2 * changes.length - made) throw new Overtaken()
}

/** A UTC time in milliseconds as SQL. */
export function timeSql(at: Date | null): string {
  return at === null ? 'NULL' : `'${at.toISOString().slice(0, 23).replace('T', ' ')}'`
}
