import { expect, vi } from 'vitest'
import { TOKEN } from './built-worker.ts'

/**
 * Waits until an isolate counts nothing any more. A redirect waits at most half a second for its count, which then goes on
 * without it: on a busy machine, a client may have its answer before it is counted.
 */
export async function settledCounting(url: string): Promise<void> {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const load = async () => {
    const response = await fetch(`${url}/v1/status`, { headers })
    const { isolate } = (await response.json()) as { isolate: { counting: object } }
    return isolate.counting
  }
  // Not a poll of `expect`, which hooks cannot use.
  const settled = async () => expect(await load()).toEqual({ waiting: 0, flushes: 0 })
  await vi.waitFor(settled, { timeout: 30_000, interval: 50 })
}
