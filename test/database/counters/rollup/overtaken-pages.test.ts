import { beforeEach, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { searchCounters } from '../../../../src/counters/read/search.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { interleaved } from '../../../harness/interleaved-database.ts'
import { countOn, countsOf, expectExact, move, rollUpAt } from '../../../harness/moves.ts'

const [A, B] = [1n, 2n].map((recordId): CounterAddress => ({ recordType: 1, recordId, name: `/${recordId}` })) as [
  CounterAddress,
  CounterAddress,
]

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
  await ensureNames(db, [A])
  await countOn(db, A, 5n)
})
const listed = async () => {
  const { counters } = await searchCounters(db, { recordType: 1 }, { prefix: '', after: null, limit: 9 })
  return counters.map(({ key, count }) => [key, count])
}
/** Rolls up, and does something else once a page has been read. */
const rollUpBeside = (work: () => Promise<unknown>) => {
  return rollUpAt(interleaved(db, /^INSERT (IGNORE )?INTO counter(s|_totals) /, work))
}

it('A new counter that is deleted once a roll-up has read its page is not listed again', async () => {
  expect(await rollUpBeside(() => move(db, A))).toMatchObject({ outcome: 'complete', moved: 0n })
  expect(await listed()).toEqual([])
  await expectExact(db)
})

it('A new counter that is renamed once a roll-up has read its page can be renamed back', async () => {
  expect(await rollUpBeside(() => move(db, A, { kind: 'rename', target: B }))).toMatchObject({ outcome: 'complete' })
  expect(await listed()).toEqual([['/2', 5n]])
  expect(await move(db, B, { kind: 'rename', target: A })).toBe('done')
  expect(await listed()).toEqual([['/1', 5n]])
  await rollUpAt(db)
  expect(await countsOf(db, [A, B])).toEqual([5n, 0n])
  await expectExact(db)
})
