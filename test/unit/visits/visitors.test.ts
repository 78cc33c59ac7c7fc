import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../src/counters/counter-address.ts'
import { AGENT_CLASSES, Visitors } from '../../../src/visits/visitors.ts'

/** A salt for each day, as isolates agree on it. */
const saltsOf = (secret: string) => ({
  of: async (day: number) => createHash('sha256').update(`${secret} ${day}`).digest('hex'),
})
const SALTS = saltsOf('the database')
const VISITOR = { network: '203.0.113.7', agent: 'Mozilla/5.0 (X11; Linux x86_64)' }
const COUNTER: CounterAddress = { recordType: 1, recordId: 42n, name: '/blog/hello' }
const HOUR = 3_600
const at = (time: string) => new Date(`2026-11-20T${time}Z`)

interface Hit {
  visitor?: typeof VISITOR
  counter?: CounterAddress
  windowSeconds?: number
  when?: Date
  on?: Visitors
}
const visit = ({
  visitor = VISITOR,
  counter = COUNTER,
  windowSeconds = HOUR,
  when = at('12:00:00.000'),
  on = new Visitors(SALTS),
}: Hit = {}) => on.visit(visitor, counter, { seconds: windowSeconds, at: when, waitUntil: () => {} })

describe('a visit', () => {
  it.each<[string, Hit]>([
    ['network', { visitor: { ...VISITOR, network: '203.0.113.8' } }],
    ['class of user agents', { visitor: { ...VISITOR, agent: 'Mozilla/5.0 (Macintosh)' } }],
    ['counter', { counter: { ...COUNTER, recordId: 43n } }],
    ['counter type', { counter: { ...COUNTER, recordType: 2 } }],
    ['window before', { when: at('11:59:59.999') }],
    ['window after', { when: at('13:00:00.000') }],
    ['length of the window', { windowSeconds: 2 * HOUR }],
    ['day', { when: new Date('2026-11-21T12:00:00.000Z') }],
    ['salt', { on: new Visitors(saltsOf('another database')) }],
  ])('differs for another %s', async (_, other) => {
    expect(await visit(other)).not.toBe(await visit())
  })

  it('differs for windows of different lengths with the same number that begin on the same day', async () => {
    expect(await visit({ windowSeconds: 31_000_000 })).not.toBe(await visit({ windowSeconds: 31_000_001 }))
  })

  it('depends on the record id, not on the name', async () => {
    expect(await visit({ counter: { ...COUNTER, name: '/other' } })).toBe(await visit())
  })

  it('is the same before and after midnight within a window', async () => {
    // Windows of 50,000 s begin at multiples of that: on 2026-11-20 at 18:40:00 UTC, and on the 21st at 08:33:20.
    const windowSeconds = 50_000
    const on = new Visitors(SALTS)
    const evening = await visit({ windowSeconds, when: at('18:40:00.000'), on })
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T08:33:19.999Z'), on })).toBe(evening)
    expect(await visit({ windowSeconds, when: at('18:39:59.999'), on })).not.toBe(evening)
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T08:33:20.000Z'), on })).not.toBe(evening)
    // An isolate that starts after midnight agrees. So does an isolate that has seen other days since.
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T03:00:00.000Z') })).toBe(evening)
    for (let day = 1; day <= 9; day++) await visit({ when: new Date(`2026-12-0${day}T12:00:00.000Z`), on })
    expect(await visit({ windowSeconds, when: at('23:59:59.999'), on })).toBe(evening)
  })

  it('is the same in every isolate within a window, which begins and ends at multiples of any length', async () => {
    const window = fc.integer({ min: 1, max: 24 * 365 * HOUR })
    const time = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2036, 0) })
    await fc.assert(
      fc.asyncProperty(window, time, async (windowSeconds, time) => {
        const begin = time - (time % (windowSeconds * 1_000))
        const here = await visit({ windowSeconds, when: new Date(time) })
        expect(await visit({ windowSeconds, when: new Date(begin) })).toBe(here)
        expect(await visit({ windowSeconds, when: new Date(begin + windowSeconds * 1_000 - 1) })).toBe(here)
        expect(await visit({ windowSeconds, when: new Date(begin - 1) })).not.toBe(here)
        expect(await visit({ windowSeconds, when: new Date(begin + windowSeconds * 1_000) })).not.toBe(here)
      }),
    )
  })

  it('differs if networks differ anywhere', async () => {
    const text = fc.oneof(fc.string({ maxLength: 8 }), fc.stringMatching(/^[",\][\\ab]{0,6}$/))
    const on = new Visitors(SALTS)
    await fc.assert(
      fc.asyncProperty(text, text, async (a, b) => {
        const [one, other] = [a, b].map((network) => visit({ visitor: { ...VISITOR, network }, on }))
        expect((await one) === (await other)).toBe(a === b)
      }),
    )
  })

  it('in a short window is the same as often as in a longer one, whose class it has', async () => {
    const on = new Visitors(SALTS)
    const day = 24 * HOUR
    const visitsOf = (agent: string, when: Date) =>
      Promise.all(
        [day / 24, 30 * day].map((seconds) =>
          on.visit({ ...VISITOR, agent }, COUNTER, { seconds, longest: 30 * day, at: when, waitUntil: () => {} }),
        ),
      )
    // The long window began on an earlier day, under another salt.
    const pairs = await Promise.all(Array.from({ length: 2_000 }, (_, i) => visitsOf(`agent ${i}`, at('12:00:00.000'))))
    expect(new Set(pairs.map(String)).size).toBe(AGENT_CLASSES)
    for (const index of [0, 1]) expect(new Set(pairs.map((pair) => pair[index])).size).toBe(AGENT_CLASSES)
  })

  it('is a 63-bit hash in which every bit depends on the visitor', async () => {
    const on = new Visitors(SALTS)
    const visits = await Promise.all(
      Array.from({ length: 2_000 }, (_, i) => visit({ visitor: { ...VISITOR, network: `203.0.113.${i}` }, on })),
    )
    expect(visits.every((visit) => visit >= 0n && visit < 2n ** 63n)).toBe(true)
    expect(new Set(visits).size).toBe(2_000)
    for (let bit = 0n; bit < 63n; bit++) {
      const ones = visits.filter((visit) => (visit >> bit) & 1n).length
      expect(ones).toBeGreaterThan(800)
      expect(ones).toBeLessThan(1_200)
    }
  })

  it('is remembered after it was counted, up to a bound', async () => {
    const visitors = new Visitors(SALTS)
    const first = await visit({ on: visitors })
    expect(visitors.wasCounted(first)).toBe(false)
    visitors.markCounted(first)
    expect(visitors.wasCounted(first)).toBe(true)
    expect(new Visitors(SALTS).wasCounted(first)).toBe(false)
    for (let visit = 1n; visit <= 100_000n; visit++) visitors.markCounted(visit)
    expect(visitors.wasCounted(first)).toBe(false)
    let remembered = 0
    for (let visit = 1n; visit <= 100_000n; visit++) if (visitors.wasCounted(visit)) remembered++
    expect(remembered).toBeGreaterThanOrEqual(10_000)
    expect(remembered).toBeLessThanOrEqual(20_000)
  })
})
