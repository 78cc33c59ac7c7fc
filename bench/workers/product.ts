// The product's Worker, and beside it what its routes are compared with, behind the same middlewares.
import { app } from '../../src/app.ts'
import { toBigInt, toJsonNumber } from '../../src/database/numbers.ts'
import worker from '../../src/index.ts'
import { pathCounter, pathType } from '../../src/request.ts'
import { revalidated } from '../../src/revalidation.ts'

app.post('/bench/nothing', (c) => c.body(null, 204))

/** A counter that is kept in one row, read as the product reads its own. */
app.get('/bench/one-row/:type/:key', revalidated, async (c) => {
  const type = pathType(c)
  const { counter, key } = await pathCounter(c, type)
  const { rows } = await c.var.db.execute(
    'SELECT count FROM one_row_counters WHERE record_type = ? AND record_id = ?',
    [counter.recordType, counter.recordId],
  )
  return c.json({ type: type.name, key, count: toJsonNumber(toBigInt(rows[0]?.count ?? 0)) })
})

/** A counter of the published pattern, read as published. */
app.get('/bench/published/:type/:key', revalidated, async (c) => {
  const type = pathType(c)
  const { counter, key } = await pathCounter(c, type)
  const { rows } = await c.var.db.execute(
    'SELECT SUM(count) AS count FROM published_slotted_counters WHERE record_type = ? AND record_id = ?',
    [counter.recordType, BigInt.asUintN(31, counter.recordId)],
  )
  return c.json({ type: type.name, key, count: toJsonNumber(toBigInt(rows[0]?.count ?? 0)) })
})

export default worker
