import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../src/counters/counter-address.ts'
import { type Visitor, Visitors } from '../../../src/visits/visitors.ts'

const SECRET = 'a secret'
const VISITOR: Visitor = { address: '203.0.113.7', agent: 'Mozilla/5.0 (X11; Linux x86_64)' }
const COUNTER: CounterAddress = { recordType: 1, recordId: 42n, name: '/blog/hello' }
const HOUR = 3_600
const at = (time: string) => new Date(`2026-11-20T${time}Z`)

interface Hit {
  visitor?: Visitor
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
  on = new Visitors(SECRET),
}: Hit = {}) => on.visit(visitor, counter, windowSeconds, when)

describe('a visit', () => {
  it('is the same for the same visitor and counter within a window, in every isolate', async () => {
    const one = new Visitors(SECRET)
    const first = await visit({ on: one })
    for (const time of ['12:00:00.001', '12:30:00.000', '12:59:59.999']) {
      expect(await visit({ when: at(time), on: one })).toBe(first)
      expect(await visit({ when: at(time) })).toBe(first)
    }
  })

  it.each<[string, Hit]>([
    ['address', { visitor: { ...VISITOR, address: '203.0.113.8' } }],
    ['user agent', { visitor: { ...VISITOR, agent: 'Mozilla/5.0 (Macintosh)' } }],
    ['counter', { counter: { ...COUNTER, recordId: 43n } }],
    ['counter type', { counter: { ...COUNTER, recordType: 2 } }],
    ['window before', { when: at('11:59:59.999') }],
    ['window after', { when: at('13:00:00.000') }],
    ['length of the window', { windowSeconds: 2 * HOUR }],
    ['day', { when: new Date('2026-11-21T12:00:00.000Z') }],
    ['secret', { on: new Visitors('another secret') }],
  ])('differs for another %s', async (_, other) => {
    expect(await visit(other)).not.toBe(await visit())
  })

  it('differs for windows of different lengths with the same number that begin on the same day', async () => {
    expect(await visit({ windowSeconds: 31_000_000 })).not.toBe(await visit({ windowSeconds: 31_000_001 }))
  })

  it('depends on the record id, not on the name', async () => {
    expect(await visit({ counter: { ...COUNTER, name: null } })).toBe(await visit())
  })

  it('is the same before and after midnight within a window', async () => {
    // Windows of 50,000 s begin at multiples of that: on 2026-11-20 at 18:40:00 UTC, and on the 21st at 08:33:20.
    const windowSeconds = 50_000
    const on = new Visitors(SECRET)
    const evening = await visit({ windowSeconds, when: at('18:40:00.000'), on })
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T08:33:19.999Z'), on })).toBe(evening)
    expect(await visit({ windowSeconds, when: at('18:39:59.999'), on })).not.toBe(evening)
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T08:33:20.000Z'), on })).not.toBe(evening)
    // An isolate that starts after midnight agrees. So does an isolate that has seen other days since.
    expect(await visit({ windowSeconds, when: new Date('2026-11-21T03:00:00.000Z') })).toBe(evening)
    for (let day = 1; day <= 9; day++) await visit({ when: new Date(`2026-12-0${day}T12:00:00.000Z`), on })
    expect(await visit({ windowSeconds, when: at('23:59:59.999'), on })).toBe(evening)
  })

  it('has a window of any length that begins and ends at multiples of it', async () => {
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

  it('differs if visitors differ anywhere in their address or agent', async () => {
    const text = fc.oneof(fc.string({ maxLength: 8 }), fc.stringMatching(/^[",\][\\ab]{0,6}$/))
    const visitor = fc.record({ address: text, agent: text })
    const on = new Visitors(SECRET)
    await fc.assert(
      fc.asyncProperty(visitor, visitor, async (a, b) => {
        const same = a.address === b.address && a.agent === b.agent
        expect((await visit({ visitor: a, on })) === (await visit({ visitor: b, on }))).toBe(same)
        // Characters that move from the address to the agent.
        const moved = { address: `${a.address}${b.address}`, agent: b.agent }
        if (b.address !== '') {
          expect(await visit({ visitor: moved, on })).not.toBe(
            await visit({ visitor: { address: a.address, agent: `${b.address}${b.agent}` }, on }),
          )
        }
      }),
    )
  })

  it('is a 63-bit hash in which every bit depends on the visitor', async () => {
    const on = new Visitors(SECRET)
    const visits = await Promise.all(
      Array.from({ length: 2_000 }, (_, i) => visit({ visitor: { ...VISITOR, address: `203.0.113.${i}` }, on })),
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
    const visitors = new Visitors(SECRET)
    const first = await visit({ on: visitors })
    expect(visitors.wasCounted(first)).toBe(false)
    visitors.markCounted(first)
    expect(visitors.wasCounted(first)).toBe(true)
    expect(new Visitors(SECRET).wasCounted(first)).toBe(false)
    for (let visit = 1n; visit <= 100_000n; visit++) visitors.markCounted(visit)
    expect(visitors.wasCounted(first)).toBe(false)
    let remembered = 0
    for (let visit = 1n; visit <= 100_000n; visit++) if (visitors.wasCounted(visit)) remembered++
    expect(remembered).toBeGreaterThanOrEqual(10_000)
    expect(remembered).toBeLessThanOrEqual(20_000)
  })
})
