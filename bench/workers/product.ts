// The product's Worker, and other ways to read and to roll up behind the same middleware.
import type { Context } from 'hono'
import { wholeApp } from '../../src/app.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import type { Database } from '../../src/database/database.ts'
import { toBigInt, toJsonNumber } from '../../src/database/values.ts'
import { callerOf } from '../../src/http/caller.ts'
import type { AppEnv } from '../../src/http/hono.ts'
import { revalidated } from '../../src/http/reading.ts'
import { decodeKey, pathType, rawPathKey } from '../../src/http/url.ts'
import worker from '../../src/index.ts'
import { isolateOf, openBackgroundDatabase } from '../../src/isolate.ts'
import { counterOfKey } from '../../src/service/named-counters.ts'

const app = wholeApp()

/** A counter in one row, read as the product reads its own. */
app.get('/bench/one-row/:type/:key', revalidated, async (c) => {
  const type = pathType(c)
  const key = decodeKey(rawPathKey(c))
  const counter = await counterOfKey(isolateOf(c.env).addresses, type, key)
  const { rows } = await callerOf(c).db.execute(
    'SELECT count FROM one_row_counters WHERE record_type = ? AND record_id = ?',
    [counter.recordType, counter.recordId],
  )
  return c.json({ type: type.name, key, count: toJsonNumber(toBigInt(rows[0]?.count ?? 0)) })
})

/** A counter of the published pattern, read as published. */
app.get('/bench/published/:type/:key', revalidated, async (c) => {
  const type = pathType(c)
  const key = decodeKey(rawPathKey(c))
  const counter = await counterOfKey(isolateOf(c.env).addresses, type, key)
  const { rows } = await callerOf(c).db.execute(
    'SELECT SUM(count) AS count FROM published_slotted_counters WHERE record_type = ? AND record_id = ?',
    [counter.recordType, BigInt.asUintN(31, counter.recordId)],
  )
  return c.json({ type: type.name, key, count: toJsonNumber(toBigInt(rows[0]?.count ?? 0)) })
})

/** A roll-up with one statement or transaction under way at a time, wherever the database is. */
app.post('/bench/roll-up-one-after-the-other', (c) => rolledUp(c, oneAfterTheOther))

/** A roll-up of four seconds. */
app.post('/bench/short-roll-up', (c) => rolledUp(c, (db) => db, 4))

async function rolledUp(c: Context<AppEnv>, by: (db: Database) => Database, seconds?: number): Promise<Response> {
  const isolate = isolateOf(c.env)
  const { maxSeconds, ...budgets } = isolate.config.rollUp
  const options = { ...budgets, maxSeconds: seconds ?? maxSeconds, at: new Date() }
  const summary = await rollUp(by(openBackgroundDatabase(isolate)), options)
  return c.json({ ...summary, moved: toJsonNumber(summary.moved) })
}

/** Sends the same statements, but each transaction, and each statement outside one, only after the previous one has ended. */
function oneAfterTheOther(db: Database): Database {
  let last: Promise<unknown> = Promise.resolve()
  const enqueue = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
  return {
    ranges: db.ranges,
    execute: (sql, args) => enqueue(() => db.execute(sql, args)),
    transaction: (work) => enqueue(() => db.transaction(work)),
  }
}

export default worker
