import { onTestFinished, vi } from 'vitest'

/** Milliseconds for which something waits: an attempt at a statement, of a request and of what a page comes with, and a download. */
const WAITS_MS: readonly number[] = [3_000, 1_000, 500]
const PATIENCE_MS = 60_000

/** `setTimeout`, as the Worker calls it. */
type SetTimeout = (work: (...args: unknown[]) => void, milliseconds?: number, ...args: unknown[]) => unknown

/**
 * Until the current test ends, what waits for some numbers of milliseconds waits for a minute: a busy machine may take longer. Pauses,
 * which call the function of a promise, stay as they are.
 */
export function bePatient(waitsMs: readonly number[] = WAITS_MS): void {
  const usual = globalThis.setTimeout as SetTimeout
  const patient: SetTimeout = (work, milliseconds, ...args) =>
    usual(work, waitsMs.includes(milliseconds ?? 0) && !isPause(work) ? PATIENCE_MS : milliseconds, ...args)
  vi.stubGlobal('setTimeout', patient)
  onTestFinished(() => void vi.unstubAllGlobals())
}

function isPause(work: (...args: unknown[]) => void): boolean {
  return String(work).includes('[native code]')
}
