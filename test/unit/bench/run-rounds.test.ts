import { describe, expect, it } from 'vitest'
import { runRounds } from '../../../bench/harness/run-rounds.ts'
import type { Testbed } from '../../../bench/harness/shared-testbed.ts'
import type { Outcome } from '../../../bench/harness/variant.ts'

/** An attempt: what the host takes during it, what it measures and what it violates. */
interface Planned {
  stolen: number | null
  perSecond: number
  violations?: string[]
}

/** Measures one variant in one round on a machine that loses processor time as planned. */
async function measure(plan: readonly Planned[]) {
  let began = 0
  let measured = 0
  const lines: string[] = []
  const variant = {
    name: 'variant',
    about: '',
    measure: async (): Promise<Outcome> => {
      const { perSecond, violations = [] } = plan[measured++]!
      return { figures: { perSecond }, violations }
    },
  }
  const { runs, repeats } = await runRounds(
    { signal: new AbortController().signal } as Testbed,
    { name: 'topic', columns: ['perSecond'] },
    [variant],
    { rounds: 1, seconds: 1 },
    (line) => lines.push(line),
    async () => {
      const { stolen } = plan[began++]!
      return async () => stolen
    },
  )
  expect(runs).toHaveLength(1)
  return { run: runs[0]!, attempts: repeats.attempts, measured, lines }
}

describe('runs that lose processor time to others', () => {
  it('A quiet run is measured once', async () => {
    const { run, attempts, measured } = await measure([{ stolen: 2, perSecond: 100 }])
    expect({ run, attempts, measured }).toMatchObject({
      run: { stolenPercent: 2, figures: { perSecond: 100 } },
      attempts: 0,
      measured: 1,
    })
  })

  it('A noisy run is measured again until one is quiet', async () => {
    const { run, attempts, lines } = await measure([
      { stolen: 9, perSecond: 500 },
      { stolen: 1, perSecond: 100 },
    ])
    expect(run).toMatchObject({ stolenPercent: 1, figures: { perSecond: 100 } })
    expect(attempts).toBe(1)
    expect(lines[0]).toContain('lost 9 % of the processor time to others: measuring again')
  })

  it('If none of three is quiet, the one that lost least counts, whatever it measured', async () => {
    const { run, attempts, measured } = await measure([
      { stolen: 9, perSecond: 500 },
      { stolen: 4, perSecond: 100 },
      { stolen: 6, perSecond: 900 },
    ])
    expect(run).toMatchObject({ stolenPercent: 4, figures: { perSecond: 100 } })
    expect({ attempts, measured }).toEqual({ attempts: 2, measured: 3 })
  })

  it('A violation counts, however much its run lost', async () => {
    const first = await measure([{ stolen: 9, perSecond: 100, violations: ['one hit too few'] }])
    expect(first).toMatchObject({ run: { violations: ['one hit too few'] }, measured: 1 })
    const second = await measure([
      { stolen: 5, perSecond: 100 },
      { stolen: 9, perSecond: 100, violations: ['one hit too few'] },
    ])
    expect(second).toMatchObject({ run: { violations: ['one hit too few'] }, measured: 2 })
  })

  it('Where lost time is unknown, every run is measured once', async () => {
    const { run, measured } = await measure([{ stolen: null, perSecond: 100 }])
    expect({ run, measured }).toMatchObject({ run: { stolenPercent: null, violations: [] }, measured: 1 })
  })
})
