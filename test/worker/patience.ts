import { onTestFinished, vi } from 'vitest'

/** Milliseconds that an attempt at a statement may take, of a request and of what a page comes with, and that a download waits. */
const WAITS_MS = [3_000, 1_000, 500]
const PATIENCE_MS = 60_000

/** `setTimeout`, as the Worker calls it. */
type SetTimeout = (work: (...args: unknown[]) => void, milliseconds?: number, ...args: unknown[]) => unknown

/**
 * Until the current test ends, downloads wait longer than half a second for their counts, and statements get more than three
 * seconds, or one: a busy machine may take longer. All other timers stay as they are.
 */
export function bePatient(): void {
  const usual = globalThis.setTimeout as SetTimeout
  const patient: SetTimeout = (work, milliseconds, ...args) =>
    usual(work, WAITS_MS.includes(milliseconds ?? 0) ? PATIENCE_MS : milliseconds, ...args)
  vi.stubGlobal('setTimeout', patient)
  onTestFinished(() => void vi.unstubAllGlobals())
}
