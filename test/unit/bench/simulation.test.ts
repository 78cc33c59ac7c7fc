import { describe, expect, it } from 'vitest'
import { Keys } from '../../../bench/simulation/keys.ts'
import { placesOf } from '../../../bench/simulation/places.ts'
import { Random } from '../../../bench/simulation/random.ts'
import { runRollUp, runWrites } from '../../../bench/simulation/run-simulation.ts'
import type { ServerCosts } from '../../../bench/simulation/server-costs.ts'
import type { WriteLoad } from '../../../bench/simulation/simulate-writes.ts'
import { VirtualClock } from '../../../bench/simulation/virtual-clock.ts'
import { renderScaleDocument } from '../../../bench/topics/scale/scale-document.ts'
import { peakOf, rateAt } from '../../../bench/topics/scale/sizing.ts'

const MICROS = 10
const costs: ServerCosts = {
  ...{ hitStatement: MICROS, insertedRow: MICROS, refilledRow: MICROS, addedRow: MICROS },
  ...{ nameStatement: MICROS, newNameRow: MICROS, knownNameRow: MICROS, runStatement: MICROS },
  ...{ readSlot: MICROS, subtractedSlot: MICROS, movedTotal: MICROS, movedHour: MICROS, movedPeriod: MICROS },
  ...{ readOldSlot: MICROS, deletedSlot: MICROS },
}

describe('the virtual clock', () => {
  it('jumps from timer to timer, and runs what a timer resolves before the next one', async () => {
    const clock = new VirtualClock(1_000)
    const seen: string[] = []
    const note = (what: string) => seen.push(`${what} at ${clock.now}`)
    clock.after(20, () => note('second'))
    void clock.wait(10).then(async () => {
      note('first')
      await clock.wait(5)
      note('between')
    })
    await clock.runUntil(1_100)
    expect(seen).toEqual(['first at 1010', 'between at 1015', 'second at 1020'])
    expect(clock.now).toBe(1_100)
  })

  it('runs timers of one instant in the order in which they were set', async () => {
    const clock = new VirtualClock(0)
    const seen: number[] = []
    for (let n = 0; n < 50; n++) clock.after(n % 2 === 0 ? 5 : 3, () => seen.push(n))
    await clock.runUntil(10)
    const numbers = Array.from({ length: 50 }, (_, n) => n)
    expect(seen).toEqual([...numbers.filter((n) => n % 2 === 1), ...numbers.filter((n) => n % 2 === 0)])
  })
})

describe('the load of the simulation', () => {
  const keys = new Keys(1_000)

  it('has keys that follow Zipf’s law', () => {
    const random = new Random(1)
    const hits = new Float64Array(keys.number)
    for (let n = 0; n < 200_000; n++) hits[keys.draw(random)]!++
    for (const rank of [0, 1, 9]) expect(hits[rank]! / 200_000 / keys.share(rank)).toBeCloseTo(1, 1)
    expect(keys.share(0) / keys.share(9)).toBeCloseTo(10)
  })

  it('knows how many different keys a number of hits has', () => {
    const random = new Random(2)
    const seen = new Set(Array.from({ length: 500 }, () => keys.draw(random)))
    expect(seen.size / keys.different(500)).toBeCloseTo(1, 1)
  })

  it('spreads all hits over the locations', () => {
    for (const placement of ['everywhere', 'placed'] as const) {
      const places = placesOf(placement, 50_000, 1_000, new Random(3))
      const sum = places.reduce((sum, { isolates, hitsPerSecond }) => sum + isolates * hitsPerSecond, 0)
      expect(sum).toBeCloseTo(50_000)
      expect(Math.max(...places.map(({ hitsPerSecond }) => hitsPerSecond))).toBeLessThanOrEqual(1_000)
    }
  })

  it('has a day whose average is the average, and whose peak is the peak', () => {
    const rates = Array.from({ length: 24 }, (_, hour) => rateAt(100, hour))
    expect(rates.reduce((a, b) => a + b) / 24).toBeCloseTo(100)
    expect(Math.max(...rates)).toBeCloseTo(peakOf(100))
  })
})

describe('the model of the database', () => {
  const server = { shards: 2, processors: 8, commitMs: 1 }
  const { signal } = new AbortController()

  it('answers what counting sends', async () => {
    const load: WriteLoad = {
      ...{ hitsPerSecond: 100, keys: 1_000, perIsolate: 1_000, isolateSeconds: 60, ranges: 2, server },
      placement: 'placed',
    }
    const figures = await runWrites({ load, costs, seed: 1, budget: 500 }, signal)
    expect(figures.failedPer1000).toBe(0)
    expect(figures.nameRowsPerSecond).toBeGreaterThan(0)
  })

  it.each([true, false])('answers what the roll-up and pruning send (pruning: %s)', async (pruning) => {
    const load = { pendingSlots: 5_000, counters: 1_000, ranges: 2, server, roundTripMs: 2, pruning }
    const figures = await runRollUp({ load, costs, seed: 1 }, signal)
    expect(figures).toMatchObject({ slots: 5_000, complete: true })
  })
})

describe('docs/scale.md', () => {
  it('must have the markers of its figures', () => {
    expect(() => renderScaleDocument('no markers', {})).toThrow('docs/scale.md lacks the markers')
  })
})
