import { beforeAll, expect, it } from 'vitest'
import { setCounter } from '../../../../src/counters/adjust/set-counter.ts'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { random63 } from '../../../../src/counters/random-id.ts'
import type { TransferKind } from '../../../../src/counters/transfer/transfer-records.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { countOn, countsOf, expectExact, finishTransfer, rollUpAt, sendTransfer } from '../../../harness/transfers.ts'

/** As many as a request sends, or a few more. */
const STATEMENTS = 36
const KINDS = ['delete', 'rename', 'merge'] as const

let db: TestDatabase
beforeAll(async () => {
  db = await freshDatabase()
})

/** A pair of counters in different ranges, filled: the source has 12 and the target, unless it is for a rename, 30. */
class Pair {
  static made = 0
  readonly source: CounterAddress
  readonly target: CounterAddress
  readonly kind: TransferKind

  constructor(kind: TransferKind) {
    const id = BigInt(++Pair.made)
    this.kind = kind
    this.source = { recordType: 1, recordId: id, name: `/source/${id}` }
    this.target = { recordType: 1, recordId: 2n ** 63n + id, name: `/target/${id}` }
  }

  get asked() {
    return { kind: this.kind, target: this.kind === 'delete' ? null : this.target }
  }

  /** What the target has before. */
  get before(): bigint {
    return this.kind === 'rename' ? 0n : 30n
  }

  /** Checks that the source's 12 are gone or with the target, and one more hit in one of the two, or deleted. */
  async expectMoved({ hit }: { hit: boolean }): Promise<void> {
    const [source, target] = await countsOf(db, [this.source, this.target])
    if (this.kind === 'delete') {
      expect(target).toBe(30n)
      expect(hit ? [0n, 1n] : [0n]).toContain(source)
    } else {
      expect(source! + target!).toBe(this.before + 12n + (hit ? 1n : 0n))
      expect(hit ? [0n, 1n] : [0n]).toContain(source)
    }
  }
}

/** A pair for each statement, filled all at once. The kinds take turns. */
async function pairsForStatements(): Promise<Pair[]> {
  const pairs = Array.from({ length: STATEMENTS }, (_, i) => new Pair(KINDS[i % KINDS.length]!))
  const counts = pairs.flatMap(({ source, target, before }) => [
    { counter: source, by: 5n },
    ...(before > 0n ? [{ counter: target, by: before }] : []),
  ])
  await Promise.all(counts.map(({ counter, by }) => countOn(db, counter, by)))
  await rollUpAt(db, new Date(Date.now() - 86_400_000))
  for (const { source } of pairs) {
    await setCounter({ db, totals: null }, source, { count: 10n, id: random63(), at: new Date() })
    await countOn(db, source, 2n)
  }
  return pairs
}

it('A transfer succeeds if the answer to any one statement is lost', async () => {
  const outcomes = new Set<unknown>()
  for (const [skip, pair] of (await pairsForStatements()).entries()) {
    await db.behave({ faults: [{ action: 'cut-answer', match: '', skip }] })
    const outcome = await sendTransfer(db, pair.source, pair.asked).catch(({ applied }) => applied)
    outcomes.add(outcome)
    await db.behave()
    if (outcome !== 'done') await finishTransfer(db, pair.source, pair.asked).catch(() => {})
    await pair.expectMoved({ hit: false })
  }
  expect(outcomes).toContain('done')
  await rollUpAt(db)
  await expectExact(db)
  expect(await db.number('SELECT COUNT(*) FROM counter_transfers WHERE stage <> 3 AND role = 1')).toBe(0n)
})

it('A transfer that dies at any statement, before or after it took effect, is finished by the next request', async () => {
  let died = 0
  for (const [after, pair] of (await pairsForStatements()).entries()) {
    const fetch = cutFetch({ after, delivered: (after >> 1) % 2 === 0, rollback: true })
    const cut: Database = openDatabase({ url: db.url, ranges: db.ranges, deadlineMs: 60_000, fetch })
    const keyed = after % 4 < 3
    const asked = { ...pair.asked, ...(keyed && { id: random63(), keyed }) }
    const first = await sendTransfer(cut, pair.source, asked).catch((error: unknown) => error)
    if (first !== 'done') died++
    await countOn(db, pair.source, 1n)
    if (after % 6 === 0) await rollUpAt(db)
    if (after % 12 === 3) await expectExact(db)
    // Without a key, a request that had in fact succeeded finds the next life of the counter.
    await finishTransfer(db, pair.source, asked).catch(({ reason }) => {
      expect(keyed).toBe(false)
      expect(reason).toBe('counter_exists')
    })
    await pair.expectMoved({ hit: true })
  }
  expect(died).toBeGreaterThan(STATEMENTS / 2)
  await rollUpAt(db)
  await expectExact(db)
})
