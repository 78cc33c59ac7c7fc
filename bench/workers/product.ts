import { wholeApp } from '../../src/app.ts'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { toBigInt, toJsonNumber } from '../../src/database/values.ts'
import { callerOf } from '../../src/http/caller.ts'
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

/** A roll-up of four seconds. */
app.post('/bench/short-roll-up', async (c) => {
  const isolate = isolateOf(c.env)
  const options = { ...isolate.config.rollUp, maxSeconds: 4, at: new Date() }
  const summary = await rollUp(openBackgroundDatabase(isolate), options)
  return c.json({ ...summary, moved: toJsonNumber(summary.moved) })
})

export default worker
