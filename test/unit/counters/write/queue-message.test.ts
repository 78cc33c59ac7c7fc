import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byPrimaryKey, type CounterAddress, counterId } from '../../../../src/counters/counter-address.ts'
import type { Batch, BatchRow } from '../../../../src/counters/ledger/slots.ts'
import { type QueueProducer, readMessage, sendToQueue } from '../../../../src/counters/write/queue.ts'

/** Cloudflare's limits: bytes of a message and of a call, and messages in a call. */
const MESSAGE_BYTES = 128_000
const CALL_BYTES = 256_000
const CALL_MESSAGES = 100
const MAX_64 = 2n ** 64n - 1n
const SINCE = new Date('2026-11-20T12:00:00.123Z')

type Call = { body: unknown; contentType: string }[]

/** A queue that stores JSON and checks the limits, as the platform does. */
class RecordingQueue implements QueueProducer {
  readonly calls: Call[] = []
  async send(): Promise<void> {
    throw new Error('batches go together')
  }
  async sendBatch(messages: Iterable<{ body: unknown; contentType: 'json' }>): Promise<void> {
    const call = JSON.parse(JSON.stringify([...messages])) as Call
    const sizes = call.map(({ body }) => Buffer.byteLength(JSON.stringify(body)))
    expect(call.length).toBeGreaterThan(0)
    expect(call.length).toBeLessThanOrEqual(CALL_MESSAGES)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MESSAGE_BYTES)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(CALL_BYTES)
    this.calls.push(call)
  }
}

/** Sends a batch to a queue, and reads the messages. */
async function through(batch: Batch, counters: readonly CounterAddress[], fate: 'no' | 'unknown' = 'no') {
  const queue = new RecordingQueue()
  await sendToQueue(queue, batch, counters, { since: SINCE, fate, idempotencyHours: 24 })
  const messages = queue.calls.flat()
  const read = messages.map(({ body, contentType }) => {
    expect(contentType).toBe('json')
    return readMessage(body) as Exclude<ReturnType<typeof readMessage>, string>
  })
  return { queue, read, rows: read.flatMap(({ batch }) => batch), named: read.flatMap(({ named }) => named) }
}

const byId = (counters: readonly CounterAddress[]) =>
  new Map(counters.map((counter) => [counterId(counter), counter] as const))

/** Rows with the largest numbers, but for what is given. */
const rowsOf = (count: number, row: (i: number) => Partial<BatchRow>): BatchRow[] =>
  Array.from({ length: count }, (_, i) => {
    return { recordType: 1, recordId: BigInt(i), slot: MAX_64, count: 1n, batch: MAX_64, ...row(i) }
  })

const unsigned = fc.bigInt({ min: 0n, max: MAX_64 })
const row: fc.Arbitrary<BatchRow> = fc.record({
  recordType: fc.integer({ min: 1, max: 65_535 }),
  recordId: unsigned,
  slot: unsigned,
  // The sum may be more than the database can store. The database refuses it.
  count: fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
  batch: unsigned,
})
const key = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ unit: 'binary' }))

describe('A batch in the queue', () => {
  it('comes out unchanged, for any rows and names', async () => {
    const entry = fc.tuple(row, key)
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 60 }), fc.constantFrom('no', 'unknown'), async (entries, fate) => {
        const batch = entries.map(([row]) => row)
        const names = new Map(entries.map(([row, name]) => [counterId(row), name]))
        const counters = batch.map(({ recordType, recordId }) => {
          return { recordType, recordId, name: names.get(counterId({ recordType, recordId }))! }
        })
        const { rows, named, read } = await through(batch, counters, fate)
        expect(rows.toSorted(byPrimaryKey)).toEqual(batch.toSorted(byPrimaryKey))
        expect(byId(named)).toEqual(byId(counters))
        for (const { since, applied } of read) expect([since, applied]).toEqual([SINCE, fate])
      }),
    )
  })

  it('is one message if it fits, and none if it is empty', async () => {
    const few = rowsOf(300, (i) => ({ recordId: MAX_64 - BigInt(i) }))
    expect((await through(few, [])).read).toHaveLength(1)
    expect((await through([], [])).queue.calls).toEqual([])
  })

  it.each([
    ['letters', 'x'.repeat(508)],
    ['quotation marks, which JSON escapes', '"'.repeat(508)],
    ['control characters, each six bytes of JSON', '\u0001'.repeat(508)],
    ['three-byte characters', '★'.repeat(169)],
    ['emoji', '👋'.repeat(127)],
  ])('stays within the platform’s limits with 1,000 keys of 512 bytes: %s', async (_, text) => {
    const counters = Array.from({ length: 1_000 }, (_, i) => {
      const name = `${String(i).padStart(4, '0')}${text}`
      return { recordType: 65_535, recordId: MAX_64 - BigInt(999 - i), name }
    })
    const batch = rowsOf(1_000, (i) => {
      return { recordType: 65_535, recordId: counters[i]!.recordId, count: -(2n ** 63n) }
    })
    const { rows, named } = await through(batch, counters)
    expect(rows).toEqual(batch)
    expect(named).toEqual(counters)
  })

  it('has all rows of a key in one message, and messages in primary key order, for as many as one group has', async () => {
    const longKey = '\u0001'.repeat(512)
    const page = MAX_64 / 2n
    // 599 visitors of one page, in a group with other pages before and after it.
    const rowOf = (recordType: number, recordId: bigint, slot: bigint): BatchRow => {
      return { recordType, recordId, slot, count: 1n, batch: slot }
    }
    const others = [1, 3].flatMap((recordType) =>
      Array.from({ length: 100 }, (_, i) => rowOf(recordType, page + BigInt(i < 50 ? i - 50 : i), MAX_64)),
    )
    const visits = Array.from({ length: 599 }, (_, i) => rowOf(3, page, MAX_64 - BigInt(i)))
    const batch = [rowOf(1, page, 7n), ...visits, ...others].sort(byPrimaryKey)
    const counters = batch.map(({ recordType, recordId }) => ({ recordType, recordId, name: longKey }))
    const { read, rows, named } = await through(batch, counters)
    expect(read.length).toBeGreaterThan(1)
    expect(rows.toSorted(byPrimaryKey)).toEqual(batch)
    expect(read.filter(({ batch }) => batch.some(({ recordId }) => recordId === page))).toHaveLength(1)
    for (const { batch } of read) expect(batch).toEqual(batch.toSorted(byPrimaryKey))
    expect(byId(named)).toEqual(byId(counters))
  })

  it('names a counter in each message that has rows of it', async () => {
    const batch = rowsOf(3_000, (i) => ({ recordId: 5n, slot: BigInt(i) }))
    const counter = { recordType: 1, recordId: 5n, name: '/a' }
    const { read, rows } = await through(batch, [counter])
    expect(rows).toEqual(batch)
    expect(read.length).toBeGreaterThan(1)
    for (const { named } of read) expect(named).toEqual([counter])
  })

  it('stays within the limits with the largest number of rows', async () => {
    const batch = rowsOf(20_000, () => ({ recordType: 65_535 }))
    expect((await through(batch, [])).rows).toEqual(batch)
  })

  it('fails if the queue refuses a part of it', async () => {
    let calls = 0
    const queue: QueueProducer = {
      send: async () => {},
      sendBatch: async () => {
        if (++calls === 2) throw new Error('refused by the test')
      },
    }
    const batch = rowsOf(3_000, () => ({}))
    await expect(sendToQueue(queue, batch, [], { since: SINCE, fate: 'no', idempotencyHours: 24 })).rejects.toThrow(
      'refused by the test',
    )
  })
})

describe('A message', () => {
  const VALID = {
    kind: 'slotted-counter/batch',
    version: 1,
    since: '2026-11-20T12:00:00.000Z',
    applied: 'no',
    kept: 24,
    rows: [{ type: 1, id: '1', key: '/a', add: '1', slot: '2', batch: '3' }],
  }
  const withRow = (changes: object) => ({ ...VALID, rows: [{ ...VALID.rows[0], ...changes }] })

  it('that is well-formed is read', () => {
    expect(readMessage(VALID)).toEqual({
      since: new Date(VALID.since),
      applied: 'no',
      kept: 24,
      batch: [{ recordType: 1, recordId: 1n, slot: 2n, count: 1n, batch: 3n }],
      named: [{ recordType: 1, recordId: 1n, name: '/a' }],
    })
  })

  it.each<[string, unknown, RegExp]>([
    ['is undefined', undefined, /object/],
    ['is null', null, /object/],
    ['is a string', 'text', /object/],
    ['is a list', [VALID], /object/],
    ['is of another kind', { ...VALID, kind: 'order' }, /kind/],
    ['is of another version', { ...VALID, version: 2 }, /version/],
    ['has no time', { ...VALID, since: undefined }, /since/],
    ['has an invalid time', { ...VALID, since: 'yesterday' }, /since/],
    ['has a time with an offset', { ...VALID, since: '2026-11-20T10:00:00+02' }, /since/],
    ['has a time that does not exist', { ...VALID, since: '2026-11-20T25:00:00Z' }, /since/],
    ['does not say whether it was applied', { ...VALID, applied: 'perhaps' }, /applied/],
    ['has no rows', { ...VALID, rows: undefined }, /rows/],
    ['has a row of no type', withRow({ type: 0 }), /rows\.0\.type/],
    ['has a type beyond 16 bits', withRow({ type: 65_536 }), /rows\.0\.type/],
    ['has a record id beyond 64 bits', withRow({ id: `${2n ** 64n}` }), /rows\.0\.id/],
    ['has a record id below zero', withRow({ id: '-1' }), /rows\.0\.id/],
    ['has a record id as a JSON number, which loses digits', withRow({ id: 12 }), /rows\.0\.id/],
    ['has SQL for a slot', withRow({ slot: '1),(2' }), /rows\.0\.slot/],
    ['has no slot', withRow({ slot: undefined }), /rows\.0\.slot/],
    ['adds a fraction', withRow({ add: '1.5' }), /rows\.0\.add/],
    ['adds a line break', withRow({ add: '1\n' }), /rows\.0\.add/],
    ['adds an empty string', withRow({ add: '' }), /rows\.0\.add/],
    ['has no batch', withRow({ batch: '' }), /rows\.0\.batch/],
    ['has a number as key', withRow({ key: 7 }), /rows\.0\.key/],
  ])('that %s is refused, with the reason', (_, body, reason) => {
    expect(readMessage(body)).toEqual(expect.stringMatching(reason))
  })

  it('of any JSON is read or refused, without an exception', () => {
    const rows = fc.array(
      fc.record(
        { type: fc.jsonValue(), id: fc.jsonValue(), key: fc.jsonValue(), add: fc.jsonValue(), slot: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    )
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ ...VALID_SHAPE, rows }).map((fields) => ({ ...VALID, ...fields })),
    )
    fc.assert(
      fc.property(body, (body) => {
        const read = readMessage(body)
        if (typeof read === 'string') expect(read).not.toBe('')
        else for (const { recordId } of read.batch) expect(typeof recordId).toBe('bigint')
      }),
    )
  })
})

const VALID_SHAPE = { applied: fc.constantFrom('no', 'unknown', 'maybe') }
