import type { ImportRow } from './import-rows.ts'

/** Adds up what was counted for each type, key and day, in the order in which they first came. */
export class DaySums {
  readonly #rows = new Map<string, ImportRow>()

  add(row: ImportRow): void {
    const id = JSON.stringify([row.type, row.day, row.key])
    const known = this.#rows.get(id)
    if (known === undefined) this.#rows.set(id, { ...row })
    else known.count += row.count
  }

  /** Yields the sums that are not zero. */
  *rows(): Generator<ImportRow> {
    for (const row of this.#rows.values()) if (row.count !== 0n) yield row
  }
}
