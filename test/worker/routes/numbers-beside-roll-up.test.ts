import { expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { Gate } from '../gate.ts'
import { countIn, numbersOn } from '../shown-page.ts'

const COUNTERS = { page: { record_type: 1, prefixes: ['/a'] } }
const db = emptiedDatabase()
/** Statements that only pages send, and no roll-up. */
const PENDING = /FROM slotted_counters FORCE INDEX \(pending\) WHERE pending = 1 AND record_type = 1 LIMIT/

it.each([
  ['of a type', '', PENDING],
  ['of a type', '', /h\.range_lane/],
  ['of a prefix', '/a', PENDING],
  ['of a prefix', '/a', /part, id, nth, SUM/],
])(
  'The figures and the chart %s are right if a roll-up commits while they are read (find=%s, %s)',
  async (...given) => {
    const [, find, held] = given
    stopClock()
    const worker = new TestWorker(db.url, { COUNTERS })
    await worker.add('page', { '/a': 7, '/a/b': 1 })
    const gate = new Gate(held)
    const reader = new TestWorker(db.url, { COUNTERS })
    const headers = { Cookie: await sessionCookie(reader) }
    gate.close()
    const asked = reader.fetch(`/?type=page&find=${find}`, { headers })
    await expect.poll(() => gate.waiting).toBeGreaterThan(0)
    await worker.api('POST', '/v1/rollup')
    gate.open()
    const { tiles, sum, units } = await numbersOn(await (await asked).text())
    expect([tiles.today!.count, tiles['30d']!.count, tiles.all!.count, countIn(sum!)]).toEqual([8, 8, 8, 8])
    expect(units.at(-1)!.Counts).toBe('8 counts')
  },
)
