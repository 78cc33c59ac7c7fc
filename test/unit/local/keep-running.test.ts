import { expect, it } from 'vitest'
import { GrowingPause } from '../../../local/processes/keep-running.ts'

it('Pauses double from one second to a minute, and start over after ten minutes without a failure', () => {
  const pause = new GrowingPause()
  let now = 0
  const next = (after: number) => {
    now += after
    return pause.next(now) / 1_000
  }
  expect(Array.from({ length: 8 }, () => next(60_000))).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  expect(next(600_001)).toBe(1)
})
