import { expect, vi } from 'vitest'

/**
 * Waits until the isolate of an observed Worker counts nothing any more. A redirect waits at most half a second for its count, which then goes on
 * without it: on a busy machine, a client may have its answer before it is counted.
 */
export async function settledCounting(url: string): Promise<void> {
  // Not a poll of `expect`, which hooks cannot use.
  const settled = async () =>
    expect(await (await fetch(`${url}/test/load`)).json()).toMatchObject({ waiting: 0, flushes: 0 })
  await vi.waitFor(settled, { timeout: 30_000, interval: 50 })
}
