import { expect } from 'vitest'
import { counterId } from '../../src/counters/counter.ts'
import type { Executor } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/numbers.ts'
import { reconcileAll } from '../harness/reconcile-all.ts'
import type { Fate } from './client.ts'
import { type Part, recordOf } from './part.ts'

/** A request's increments and what its client knows of them. */
interface Receipt {
  parts: readonly Part[]
  fate: Fate
}

/** What a counter may say. */
interface Bounds {
  least: bigint
  most: bigint
  /** Increments whose fate is not known, which lie between the two. */
  unknown: bigint[]
}

/**
 * What clients know of what they sent, and what the counters must say because of it: everything acknowledged once,
 * nothing that was refused, and what nobody knows of once or not at all.
 *
 * A request whose last part is to a counter that no other request adds to leaves a witness: as all of a request counts or
 * none of it, that counter tells what became of the rest.
 */
export class Receipts {
  readonly #receipts: Receipt[] = []
  readonly #acknowledged = new Map<string, number>()
  /** Requests, by fate. */
  readonly number: Record<Fate, number> = { counted: 0, refused: 0, unknown: 0 }
  /** Increments, of which a request may have several. */
  increments = 0

  book(parts: readonly Part[], fate: Fate): void {
    this.#receipts.push({ parts, fate })
    this.number[fate]++
    this.increments += parts.length
    if (fate !== 'counted') return
    for (const { key, by } of parts) this.#acknowledged.set(key, this.acknowledged(key) + by)
  }

  /** Requests booked. */
  get size(): number {
    const { counted, refused, unknown } = this.number
    return counted + refused + unknown
  }

  /** The sum of what was acknowledged of a key so far. */
  acknowledged(key: string): number {
    return this.#acknowledged.get(key) ?? 0
  }

  /** Checks what all counters say, in one instant. */
  async check(db: Executor): Promise<void> {
    const readings = await readAll(db)
    const ids = await this.#counterIds()
    const says = (part: Part) => readings.get(ids.get(nameOf(part))!)?.count ?? 0n
    const uses = new Map<string, number>()
    for (const { parts } of this.#receipts) {
      for (const part of parts) uses.set(nameOf(part), (uses.get(nameOf(part)) ?? 0) + 1)
    }
    const expected = new Map<string, Bounds>()
    const wrong: string[] = []
    for (const { parts, fate } of this.#receipts) {
      const witness = parts.at(-1)!
      const seen = uses.get(nameOf(witness)) === 1 && fate === 'unknown' && says(witness) !== 0n
      const known = seen ? 'counted' : uses.get(nameOf(witness)) === 1 && fate === 'unknown' ? 'refused' : fate
      for (const part of parts) {
        const bounds = expected.get(nameOf(part)) ?? { least: 0n, most: 0n, unknown: [] }
        expected.set(nameOf(part), bounds)
        const by = BigInt(part.by)
        if (known === 'unknown') bounds.unknown.push(by)
        if (known === 'counted' || (known === 'unknown' && by < 0n)) bounds.least += by
        if (known === 'counted' || (known === 'unknown' && by > 0n)) bounds.most += by
      }
    }
    for (const [name, { least, most, unknown }] of expected) {
      const id = ids.get(name)!
      const count = readings.get(id)?.count ?? 0n
      readings.delete(id)
      if (count < least || count > most || (unknown.length === 1 && count !== least && count !== most)) {
        wrong.push(`${name} is ${count}, not from ${least} to ${most}`)
      }
    }
    for (const [id, { count }] of readings) if (count !== 0n) wrong.push(`${id}, which nobody counted, is ${count}`)
    expect(wrong).toEqual([])
  }

  async #counterIds(): Promise<Map<string, string>> {
    const parts = new Map(this.#receipts.flatMap((receipt) => receipt.parts).map((part) => [nameOf(part), part]))
    const ids = [...parts].map(
      async ([name, part]): Promise<[string, string]> => [name, counterId(await recordOf(part))],
    )
    return new Map(await Promise.all(ids))
  }
}

/** Checks that nothing is pending, and that the totals are what the history says, by hours, days, weeks and months. */
export async function checkRolledUp(db: Executor): Promise<void> {
  for (const [id, { pending, histories, count }] of await readAll(db)) {
    expect({ id, pending, histories }).toEqual({ id, pending: 0n, histories: Array(4).fill(count) })
  }
  // What operators have to find the same: it must find nothing either.
  expect((await reconcileAll(db)).wrong).toEqual([])
}

/** How many counters that hold something have no name. */
export async function namesMissing(db: Executor): Promise<number> {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS missing FROM (SELECT DISTINCT record_type, record_id FROM slotted_counters WHERE pending = 1) AS s
     LEFT JOIN counter_names AS n ON n.record_type = s.record_type AND n.record_id = s.record_id WHERE n.name IS NULL`,
  )
  return Number(toBigInt(rows[0]?.missing))
}

function nameOf({ type, key }: Part): string {
  return `${type} ${key}`
}

interface Everything {
  count: bigint
  pending: bigint
  /** Sums of the hours, days, weeks and months, each with the adjustments. */
  histories: bigint[]
}

/** All counters, by id, from one snapshot: past the product's own reader, which must not be what is trusted here. */
async function readAll(db: Executor): Promise<Map<string, Everything>> {
  const { rows } = await db.execute(
    `SELECT record_type, record_id, SUM(total) AS total, SUM(pending) AS pending,
       SUM(hours) AS hours, SUM(days) AS days, SUM(weeks) AS weeks, SUM(months) AS months FROM (
       SELECT record_type, record_id, count AS total, 0 AS pending, 0 AS hours, 0 AS days, 0 AS weeks, 0 AS months
         FROM counter_totals
       UNION ALL SELECT record_type, record_id, 0, count, 0, 0, 0, 0 FROM slotted_counters
       UNION ALL SELECT record_type, record_id, 0, 0, count, 0, 0, 0 FROM counter_history
       UNION ALL SELECT record_type, record_id, 0, 0, 0, IF(period = 1, count, 0), IF(period = 2, count, 0), IF(period = 3, count, 0)
         FROM counter_periods
       UNION ALL SELECT record_type, record_id, 0, 0, count, count, count, count FROM counter_adjustments) AS parts
     GROUP BY record_type, record_id`,
  )
  const readings = rows.map((row): [string, Everything] => {
    const pending = toBigInt(row.pending)
    const histories = [row.hours, row.days, row.weeks, row.months].map(toBigInt)
    const reading = { count: toBigInt(row.total) + pending, pending, histories }
    return [counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) }), reading]
  })
  return new Map(readings)
}
