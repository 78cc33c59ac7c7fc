import { describe, expect, inject, it } from 'vitest'
import { boundsOf, rangeSql } from '../../src/counters/ranges.ts'
import { bucketOf } from '../../src/database/buckets.ts'
import { toText } from '../../src/database/values.ts'
import { freshDatabase } from '../harness/database.ts'
import { onVitess } from '../harness/on-vitess.ts'

const BYTES = Array.from({ length: 256 }, (_, byte) => byte)

/** Of the record ids that begin with a byte. */
const bucketOfByte = (byte: number) => bucketOf(BigInt(byte) << 56n)

it('Every bucket has a number of its own that fits its column', () => {
  const buckets = BYTES.map(bucketOfByte)
  expect(new Set(buckets).size).toBe(256)
  expect(Math.max(...buckets)).toBeLessThan(2 ** 16)
  expect(bucketOf(2n ** 64n - 1n)).toBe(bucketOfByte(255))
})

describe.skipIf(!onVitess || inject('ranges') === 1)('On shards', () => {
  it('the keyspace id of a bucket begins as its record ids do', async () => {
    const db = await freshDatabase()
    const { rows } = await db.execute(
      `SELECT id, hex_keyspace_id FROM bucket WHERE id IN (${BYTES.map(bucketOfByte).join()})`,
    )
    const found = new Map(
      rows.map(({ id, hex_keyspace_id: hex }) => [Number(toText(id)), Number.parseInt(toText(hex).slice(0, 2), 16)]),
    )
    expect(BYTES.map((byte) => found.get(bucketOfByte(byte)))).toEqual(BYTES)
  })

  it.each([2, 4, 8, 256])(
    'each of %i ranges is read on one shard, those of the first ids on the first one',
    async (ranges) => {
      const shards = inject('ranges')
      if (ranges < shards) return
      const db = await freshDatabase()
      for (let range = 0; range < ranges; range += Math.ceil(ranges / 16)) {
        const { rows } = await db.execute(
          `VEXPLAIN QUERIES SELECT slot FROM slotted_counters AS s WHERE s.pending = 1 ${rangeSql('s', range, ranges)}`,
        )
        const asked = rows.map(({ shard }) => Number.parseInt(`0${shard}`, 16))
        const first = Number(boundsOf(range, ranges).first >> 56n)
        const width = 256 / shards
        expect(asked, `range ${range}`).toEqual([Math.floor(first / width) * width])
      }
    },
  )
})
