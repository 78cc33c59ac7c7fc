import type { Database, Executor } from '../../database/database.ts'
import { DatabaseFailure, hasErrorNumber } from '../../database/errors.ts'
import { toBigInt } from '../../database/numbers.ts'
import type { CountedDatabase } from '../../database/statement-budget.ts'
import { toText } from '../../database/text.ts'
import { ADJUSTMENTS_SUM, BUILDS_VERSION, NO_PERIOD, PERIODS } from '../calendar.ts'
import { counterListsSql } from '../counter-lists-sql.ts'
import { hash64 } from '../keys/key-hash.ts'
import type { KeptSums } from '../ledger/kept-sums.ts'
import { IMPORT_LANE } from '../ledger/periods.ts'
import { Overtaken } from '../ledger/totals.ts'
import { beginsWithSql, bytesSql, MAX_LANES, type PrefixBuild, type TypeBuilds } from '../prefix-builds.ts'
import { boundsOf, rangeOf, rangeStarts } from '../ranges.ts'

/** Counters that one step adds to the sums of a prefix. */
export const COUNTERS_PER_STEP = 100
/** The most statements of a step: BEGIN, version, names, history, sums, builds, COMMIT, and ROLLBACK if that fails. */
export const STEP_STATEMENTS = 8

/**
 * Adds what counters had before a prefix was declared to its sums, step by step. Steps may overlap, repeat, or end at any point.
 *
 * A step first changes, and so locks, the rows with the version, one for each lane. Then no other transaction that adds to the
 * history of the type in that range is under way. Those that come later find another version, and read the builds again.
 *
 * @param starts the first record ids of the ranges to work on
 * @param mayGoOn asked before each step
 * @returns whether everything is done
 * @throws {DatabaseFailure} if it will not pass; steps that were done stay done
 */
export async function buildPrefixes(
  db: CountedDatabase,
  sums: KeptSums,
  starts: readonly bigint[],
  mayGoOn: () => boolean,
): Promise<boolean> {
  let done = true
  const guarded = async (start: bigint, work: () => Promise<boolean>) => {
    try {
      if (!(await work())) done = false
    } catch (error) {
      done = false
      sums.forget(start)
      const passes = error instanceof Overtaken || (error instanceof DatabaseFailure && error.retry)
      if (!passes) throw error
    }
  }
  for (const start of starts) await guarded(start, () => register(db, sums, start, mayGoOn))
  // Before the number of ranges was raised, a row stood for what are several ranges now. It must not change until each has its own.
  if (!done || starts.length < db.ranges) {
    const registered = await Promise.all(rangeStarts(db.ranges).map((start) => isRegistered(db, sums, start)))
    if (registered.includes(false)) return false
  }
  for (const start of starts) await guarded(start, () => finish(db, sums, start, mayGoOn))
  return done
}

/** Whether a range has a row of its own for each declared prefix. */
async function isRegistered(db: Database, sums: KeptSums, start: bigint): Promise<boolean> {
  const known = await sums.buildsOf(db, start)
  const all = sums.declared.every(({ recordType, text }) =>
    known.get(recordType)?.builds.some((build) => build.text === text && build.rangeStart === start),
  )
  // Another run may be about to do it.
  if (!all) sums.forget(start)
  return all
}

/** Writes the rows that a range lacks. */
async function register(db: CountedDatabase, sums: KeptSums, start: bigint, mayGoOn: () => boolean): Promise<boolean> {
  const known = await sums.buildsOf(db, start)
  for (const [recordType, declared] of Map.groupBy(sums.declared, ({ recordType }) => recordType)) {
    const { version, builds } = known.get(recordType) ?? { version: 0n, builds: [] }
    const texts = new Set([...declared, ...builds].map(({ text }) => text))
    const missing = [...texts].filter(
      (text) => !builds.some((build) => build.text === text && build.rangeStart === start),
    )
    if (missing.length === 0) continue
    if (!mayGoOn()) return false
    const rows = await Promise.all(
      missing.map(async (text): Promise<PrefixBuild> => {
        const covering = builds.find((build) => build.text === text)
        const begun = { recordType, hash: await hash64(text), text, builtTo: null, complete: false }
        return { ...begun, ...covering, rangeStart: start }
      }),
    )
    const fresh = rows.filter(({ text }) => !builds.some((build) => build.text === text))
    await db.transaction(async (transaction) => {
      await changeVersion(transaction, recordType, start, version)
      if (fresh.length > 0) {
        // Isolates may have added to it after its rows were deleted by hand.
        const lanes = lanesOf(start).flatMap((lane) => [lane, lane + IMPORT_LANE])
        await transaction.execute(
          `DELETE FROM prefix_history WHERE range_lane IN (${lanes.join(',')})
             AND record_type = ${recordType} AND prefix_hash IN (${fresh.map(({ hash }) => hash).join(',')})`,
        )
      }
      await writeBuilds(transaction, recordType, start, version + 1n, rows)
    })
    sums.forget(start)
  }
  return true
}

/** Goes on with the prefixes of a range until all are complete. */
async function finish(db: CountedDatabase, sums: KeptSums, start: bigint, mayGoOn: () => boolean): Promise<boolean> {
  const known = await sums.buildsOf(db, start)
  for (const recordType of new Set(sums.declared.map(({ recordType }) => recordType))) {
    const { version, builds } = known.get(recordType)!
    let changed = version
    for (let build of builds) {
      while (!build.complete) {
        if (!mayGoOn()) {
          if (changed !== version) sums.forget(start)
          return false
        }
        build = await step(db, { recordType, version: changed, build, start })
        changed++
      }
    }
    if (changed !== version) sums.forget(start)
  }
  return true
}

/** Adds the next counters to the sums of a prefix, in one transaction. */
async function step(
  db: Database,
  {
    recordType,
    version,
    build,
    start,
  }: { recordType: number; build: PrefixBuild; start: bigint } & Pick<TypeBuilds, 'version'>,
): Promise<PrefixBuild> {
  return db.transaction(async (transaction) => {
    await changeVersion(transaction, recordType, start, version)
    const { last } = boundsOf(rangeOf(start, db.ranges), db.ranges)
    const within = db.ranges === 1 ? '' : `AND record_id BETWEEN ${start} AND ${last}`
    const { rows } = await transaction.execute(
      `SELECT record_id, name FROM counter_names FORCE INDEX (name)
       WHERE record_type = ${recordType} AND ${beginsWithSql('name', build.text)}
         ${build.builtTo === null ? '' : `AND name > ${bytesSql(build.builtTo)}`} ${within}
       ORDER BY name LIMIT ${COUNTERS_PER_STEP}`,
    )
    const ids = rows.map(({ record_id }) => toBigInt(record_id))
    if (ids.length > 0) await addHistories(transaction, { recordType, ids, hash: build.hash, start })
    const next = {
      ...build,
      builtTo: rows.length === 0 ? build.builtTo : toText(rows.at(-1)!.name),
      complete: rows.length < COUNTERS_PER_STEP,
    }
    await writeBuilds(transaction, recordType, start, version + 1n, [next])
    return next
  })
}

/** Adds everything that counters have to the sums of a prefix. */
async function addHistories(
  transaction: Executor,
  { recordType, ids, hash, start }: { recordType: number; ids: readonly bigint[]; hash: bigint; start: bigint },
): Promise<void> {
  const selects = counterListsSql(ids.map((recordId) => ({ recordType, recordId }))).map(
    (counters) =>
      `SELECT ${PERIODS.hour} AS period, CAST(period_start AS CHAR) AS start, SUM(count) AS count
         FROM counter_history FORCE INDEX (PRIMARY) WHERE ${counters} GROUP BY period_start
       UNION ALL SELECT period, CAST(period_start AS CHAR), SUM(count)
         FROM counter_periods FORCE INDEX (PRIMARY) WHERE ${counters} GROUP BY period, period_start
       UNION ALL SELECT ${ADJUSTMENTS_SUM}, '${NO_PERIOD}', SUM(count)
         FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${counters}`,
  )
  const { rows } = await transaction.execute(selects.join('\n UNION ALL '))
  const values = rows
    .filter(({ count }) => count !== null)
    .map(
      (row) =>
        `(${recordType},${hash},${Number(row.period)},'${String(row.start).slice(0, 19)}',${start},${toBigInt(row.count)})`,
    )
  if (values.length === 0) return
  await transaction.execute(
    `INSERT INTO prefix_history (record_type, prefix_hash, period, period_start, range_lane, count) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/**
 * Changes the version in all lanes of a range. Their rows stay locked until the end of the transaction.
 *
 * @throws {Overtaken} if it is another one by now
 */
async function changeVersion(transaction: Executor, recordType: number, start: bigint, version: bigint): Promise<void> {
  const rows = lanesOf(start).map((lane) => `(${recordType},${BUILDS_VERSION},'${NO_PERIOD}',${lane},${version + 1n})`)
  try {
    await transaction.execute(
      `INSERT INTO type_history (record_type, period, period_start, range_lane, count) VALUES ${rows.join(',')}
       ON DUPLICATE KEY UPDATE count = IF(9223372036854775807 + (count + 1 <> VALUES(count)) > 0, VALUES(count), 0)`,
    )
  } catch (error) {
    throw hasErrorNumber(error, 1690) ? new Overtaken() : error
  }
}

async function writeBuilds(
  transaction: Executor,
  recordType: number,
  start: bigint,
  version: bigint,
  builds: readonly PrefixBuild[],
): Promise<void> {
  const rows = builds.map(({ hash, text, builtTo, complete }) => {
    const to = builtTo === null ? 'NULL' : bytesSql(builtTo)
    return `(${recordType},${hash},${start},${bytesSql(text)},${to},${complete ? 1 : 0},0)`
  })
  await transaction.execute(
    `INSERT INTO prefix_builds (record_type, prefix_hash, range_start, prefix, built_to, complete, version)
     VALUES (${recordType},0,${start},'',NULL,0,${version}),${rows.join(',')}
     ON DUPLICATE KEY UPDATE built_to = VALUES(built_to), complete = VALUES(complete), version = VALUES(version)`,
  )
}

function lanesOf(start: bigint): bigint[] {
  return Array.from({ length: MAX_LANES }, (_, lane) => start + BigInt(lane))
}
