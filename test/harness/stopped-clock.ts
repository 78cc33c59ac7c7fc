import { afterAll, beforeAll, onTestFinished, vi } from 'vitest'

/** Stops the clock of the Worker until the current test ends. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Stops it for a file: no window, hour or day ends between two of its tests. */
export function stopClockOfFile(): void {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterAll(() => void vi.useRealTimers())
}
