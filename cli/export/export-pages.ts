import { numberDigits } from '../exact-json.ts'
import type { WorkerClient } from '../worker-client.ts'
import type { ExportedRow } from './export-format.ts'

/**
 * Reads all counters of some types, page by page.
 *
 * @param by a row for each counter, or for each day of it
 */
export async function* exportPages(
  worker: WorkerClient,
  types: readonly string[],
  by: 'total' | 'day',
): AsyncGenerator<ExportedRow[]> {
  for (const type of types) {
    let after: string | null = null
    do {
      const query = new URLSearchParams({ by, ...(after !== null && { after }) })
      const page = JSON.parse(await worker.get(`/v1/export/${encodeURIComponent(type)}?${query}`), numberDigits) as {
        rows: { key: string; count: string; day?: string }[]
        next: string | null
      }
      yield page.rows.map((row) => ({ type, ...row }))
      after = page.next
    } while (after !== null)
  }
}
