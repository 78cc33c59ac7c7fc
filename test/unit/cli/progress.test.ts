import { expect, it, vi } from 'vitest'

it('Progress is said every five seconds in a log, however often it is reported', async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  const lines: unknown[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(line) > 0)
  try {
    const { sayProgress } = await import('../../../cli/progress.ts')
    for (let second = 0; second <= 12; second++) {
      sayProgress(`${second} rows`)
      vi.advanceTimersByTime(1_000)
    }
  } finally {
    vi.restoreAllMocks()
    vi.useRealTimers()
  }
  expect(lines).toEqual(['5 rows …\n', '10 rows …\n'])
})
