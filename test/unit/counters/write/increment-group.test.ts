import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byPrimaryKey, type CounterAddress, counterId } from '../../../../src/counters/counter-address.ts'
import type { Batch, BatchRow } from '../../../../src/counters/ledger/slots.ts'
import type { Increment } from '../../../../src/counters/write/increment-group.ts'
import { IncrementGroup, withKey } from '../../../../src/counters/write/increment-group.ts'

const SLOT = 7n
const counter = (recordId: number, recordType = 1): CounterAddress => ({
  recordType,
  recordId: BigInt(recordId),
  name: `/${recordId}`,
})
const add = (recordId: number, by: number, recordType = 1): Increment => ({
  counter: counter(recordId, recordType),
  by: BigInt(by),
})
const seal = (group: IncrementGroup, classicSlots: ReadonlyMap<number, number> = new Map()) =>
  group.seal(SLOT, classicSlots)

const rowId = (row: BatchRow) => `${counterId(row)}/${row.slot}/${row.batch}`

/** The sum that batches add to each counter. */
function sums(...batches: Batch[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const row of batches.flat()) sums.set(counterId(row), (sums.get(counterId(row)) ?? 0n) + row.count)
  for (const [id, sum] of sums) if (sum === 0n) sums.delete(id)
  return sums
}

interface Request {
  increments: readonly Increment[]
  key: bigint | undefined
}
const increments = fc.array(
  fc.tuple(fc.nat(5), fc.integer({ min: -4, max: 4 }), fc.constantFrom(1, 1, 2)).map((parts) => add(...parts)),
  { minLength: 1, maxLength: 6 },
)
/** Requests, some with a key. Requests with the same key are equal. */
const requests: fc.Arbitrary<Request[]> = fc
  .tuple(
    fc.array(increments, { minLength: 3, maxLength: 3 }),
    fc.array(fc.oneof(increments, fc.nat(2)), { minLength: 1, maxLength: 25 }),
  )
  .map(([keyed, all]) =>
    all.map((one) =>
      typeof one === 'number'
        ? { increments: keyed[one]!, key: 100n + BigInt(one) }
        : { increments: one, key: undefined },
    ),
  )

/** The sum that requests must add to each counter. Each key counts once. */
function wanted(requests: readonly Request[]): Map<string, bigint> {
  const keys = new Set<bigint>()
  const counted = requests.filter(({ key }) => key === undefined || (!keys.has(key) && keys.add(key)))
  return sums(
    counted.flatMap(({ increments }) =>
      increments.map(({ counter, by }) => ({ ...counter, count: by, slot: 0n, batch: 0n })),
    ),
  )
}

const join = (group: IncrementGroup, { increments, key }: Request) =>
  group.add({ increments: withKey(increments, key), group, wake: null })

const filled = (requests: readonly Request[]): IncrementGroup => {
  const group = new IncrementGroup(1, 2)
  for (const request of requests) join(group, request)
  return group
}

describe('A group', () => {
  it('gives a request with a key its own rows, and counts a key once', () => {
    const group = filled([
      { increments: [add(1, 1)], key: undefined },
      { increments: [add(1, 10)], key: 99n },
      // The first request with a key counts.
      { increments: [add(1, 20)], key: 99n },
      { increments: [add(1, 100)], key: 3n },
    ])
    expect(seal(group).map(({ slot, count, batch }) => [slot, count, batch === slot])).toEqual([
      [3n, 100n, true],
      [SLOT, 1n, false],
      [99n, 10n, true],
    ])
  })

  it('merges one increment of a request and gives another its own row, which counts once', () => {
    const visit = (recordId: number, key: bigint): Increment => ({ ...add(recordId, 1, 2), key })
    const group = filled([
      { increments: [add(1, 1), visit(1, 50n)], key: undefined },
      { increments: [add(1, 1), visit(1, 50n)], key: undefined },
      { increments: [add(1, 1), visit(1, 60n)], key: undefined },
      { increments: [add(1, 1)], key: undefined },
    ])
    const rows = (batch: Batch) => batch.map(({ recordType, slot, count }) => [recordType, slot, count])
    expect(rows(seal(group))).toEqual([
      [1, SLOT, 4n],
      [2, 50n, 1n],
      [2, 60n, 1n],
    ])
    expect(new Set(group.counters().map(counterId))).toEqual(new Set(['1/1', '2/1']))
    const [left, right] = group.split(0)
    expect([rows(seal(left)), rows(seal(right))]).toEqual([
      [
        [1, SLOT, 2n],
        [2, 50n, 1n],
      ],
      [
        [1, SLOT, 2n],
        [2, 60n, 1n],
      ],
    ])
  })

  it('with increments that must count together is so small that a message of the queue can hold it', () => {
    const pair = (visit: number): Increment[] => [add(1, 1), { ...add(1, 1, 2), key: BigInt(visit) }]
    const group = new IncrementGroup(1, 2)
    for (let visit = 1; group.fits(pair(visit)); visit++) join(group, { increments: pair(visit), key: undefined })
    expect(group.size).toBe(599)
    expect(group.fits([add(2, 1), add(3, 1)])).toBe(false)
    const others = new IncrementGroup(1, 2)
    for (let i = 0; i < 900; i++) join(others, { increments: [add(i, 1)], key: undefined })
    expect([others.fits([add(1_000, 1)]), others.fits(pair(1))]).toEqual([true, false])
  })

  it('adds what its requests add, in primary key order, each slot once, in at most `size` rows', () => {
    fc.assert(
      fc.property(requests, (requests) => {
        const group = filled(requests)
        const { size } = group
        const batch = seal(group)
        expect(sums(batch)).toEqual(wanted(requests))
        expect(batch.length).toBeLessThanOrEqual(size)
        expect(new Set(batch.map((row) => `${counterId(row)}/${row.slot}`)).size).toBe(batch.length)
        expect(batch).toEqual(batch.toSorted(byPrimaryKey))
      }),
    )
  })
})

describe('The halves of a group', () => {
  /** Splits until every group has one request. */
  function shatter(group: IncrementGroup): IncrementGroup[] {
    if (group.tickets.length === 1) return [group]
    return group.split(0).flatMap(shatter)
  }

  it('contain every request once, and wait again', () => {
    fc.assert(
      fc.property(requests, (requests) => {
        fc.pre(requests.length > 1)
        const group = filled(requests)
        const tickets = [...group.tickets]
        seal(group)
        const halves = group.split(7)
        expect(halves.flatMap((half) => half.tickets)).toEqual(tickets)
        for (const half of halves) {
          expect(half.tickets.length).toBeGreaterThan(0)
          expect(half.tickets.length).toBeLessThan(tickets.length)
          for (const ticket of half.tickets) expect(ticket.group).toBe(half)
          expect([half.waitsSince, half.outcome, half.batch, half.contested]).toEqual([7, null, null, false])
        }
      }),
    )
  })

  it('add the same as the whole, with their own batch ids', () => {
    fc.assert(
      fc.property(requests, (requests) => {
        fc.pre(requests.length > 1)
        const group = filled(requests)
        const whole = seal(group)
        const parts = shatter(group)
        expect(parts).toHaveLength(requests.length)
        const batches = [whole, ...parts.map((part) => seal(part))]
        // A key in two parts makes the same row, which the database recognizes.
        const distinct = new Map(batches.slice(1).flatMap((batch) => batch.map((row) => [rowId(row), row])))
        expect(sums([...distinct.values()])).toEqual(sums(whole))
        const ids = batches
          .map((batch) => batch.find(({ slot }) => slot === SLOT)?.batch)
          .filter((id) => id !== undefined)
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })
})
