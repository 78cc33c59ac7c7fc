import { describe, expect, it } from 'vitest'
import { ShortestDuration } from '../../../../src/counters/write/flush-group.ts'

describe('The shortest duration', () => {
  const start = Date.UTC(2026, 0, 1)

  it('is not known before the first measurement', () => {
    expect(new ShortestDuration().milliseconds).toBe(Number.POSITIVE_INFINITY)
  })

  it('stays for five to ten seconds, however long others take', () => {
    const shortest = new ShortestDuration()
    shortest.took(20, start)
    shortest.took(7, start + 100)
    for (let ms = 200; ms <= 5_000; ms += 100) shortest.took(50, start + ms)
    expect(shortest.milliseconds).toBe(7)
    shortest.took(60, start + 5_100)
    expect(shortest.milliseconds).toBe(7)
    shortest.took(60, start + 10_200)
    expect(shortest.milliseconds).toBe(60)
  })

  it('is not that of work without I/O, nor negative if the clock was set back meanwhile', () => {
    const shortest = new ShortestDuration()
    shortest.took(20, start)
    shortest.took(0, start + 100)
    shortest.took(-3, start + 200)
    expect(shortest.milliseconds).toBe(20)
  })

  it('is measured again if the clock is set back', () => {
    const shortest = new ShortestDuration()
    shortest.took(7, start)
    shortest.took(50, start - 60_000)
    shortest.took(50, start - 54_000)
    expect(shortest.milliseconds).toBe(50)
  })
})
