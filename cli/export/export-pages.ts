import { numberDigits } from '../exact-json.ts'
import type { WorkerClient } from '../worker-client.ts'
import type { ExportedRow } from './export-format.ts'

/** A page of an export. */
export interface ExportedPage {
  rows: ExportedRow[]
  /** Rows that were left out because the names of their counters are not stored. */
  nameless: number
}

/**
 * Reads all counters of some types, page after page.
 *
 * @param by a row for each counter, or for each day of it
 */
export async function* exportPages(
  worker: WorkerClient,
  types: readonly string[],
  by: 'total' | 'day',
): AsyncGenerator<ExportedPage> {
  for (const type of types) {
    let after: string | null = null
    do {
      const query = new URLSearchParams({ by, ...(after !== null && { after }) })
      const page = JSON.parse(await worker.get(`/v1/export/${encodeURIComponent(type)}?${query}`), numberDigits) as {
        rows: { key: string | null; count: string; day?: string }[]
        next: string | null
      }
      const named = page.rows.filter((row) => row.key !== null)
      yield {
        rows: named.map(({ key, count, day }) => ({ type, key: key!, count, ...(day !== undefined && { day }) })),
        nameless: page.rows.length - named.length,
      }
      after = page.next
    } while (after !== null)
  }
}
