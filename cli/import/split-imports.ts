import { addressOfKey, type KeyedType } from '../../src/counters/keys/key-address.ts'
import { MAX_RANGES, rangeOf } from '../../src/counters/ranges.ts'
import { RefusedError } from '../retried.ts'
import { configuredTypes, type WorkerClient } from '../worker-client.ts'

/** A row of an import, as `POST /v1/imports` takes it. */
export interface ImportedCount {
  type: string
  key: string
  count: number | string
  day?: string
}

/**
 * Sends imports. The Worker accepts counters of one range in a request. An import that it refuses is split by record id, in twice
 * as many parts each time. Nothing is imported twice, even if the number of ranges has changed since an earlier run:
 *
 * - The whole is sent before its parts, so the Worker recognizes what was imported as a whole.
 * - Parts are sent in the order of their record ids, and the first one has the key of the whole. So once any part is imported,
 *   the Worker refuses the whole as `idempotency_key_reused`. If it says `different_ranges`, no part is imported.
 */
export class SplitImports {
  readonly #worker: WorkerClient
  #types: Map<string, KeyedType> | undefined
  /** In how many parts the last import was split. */
  #parts = 1

  constructor(worker: WorkerClient) {
    this.#worker = worker
  }

  /**
   * Yields the indexes of rows as soon as they are imported, and whether an earlier request had imported them.
   * @throws {RefusedError} if the Worker refuses rows that cannot be split
   */
  async *send(idempotencyKey: string, counters: readonly ImportedCount[]) {
    let ids: bigint[] | undefined
    const unsent = [{ rows: [...counters.keys()], parts: 1, key: idempotencyKey }]
    for (let part = unsent.shift(); part !== undefined; part = unsent.shift()) {
      const { rows, key } = part
      try {
        const body = { counters: rows.map((row) => counters[row]!) }
        const { repeated } = await this.#worker.post('/v1/imports', body, key)
        yield { rows, repeated }
      } catch (error) {
        const code = error instanceof RefusedError ? error.code : ''
        if (code !== 'different_ranges' && code !== 'idempotency_key_reused') throw error
        ids ??= await this.#recordIds(counters)
        // A part that is imported may be larger than the parts of the last import.
        let parts = Math.max(2 * part.parts, code === 'different_ranges' ? this.#parts : 1)
        while (parts < MAX_RANGES && groupsOf(rows, ids, parts).length === 1) parts *= 2
        const groups = parts > MAX_RANGES ? [] : groupsOf(rows, ids, parts)
        if (groups.length < 2) throw error
        if (code === 'different_ranges') this.#parts = parts
        // Of a key for each first row, so that it does not depend on how the import was split before.
        const keyOf = (first: number) => `${idempotencyKey}-${rangeOf(ids![first]!, MAX_RANGES)}`
        unsent.unshift(...groups.map((rows, i) => ({ rows, parts, key: i === 0 ? key : keyOf(rows[0]!) })))
      }
    }
  }

  async #recordIds(counters: readonly ImportedCount[]): Promise<bigint[]> {
    this.#types ??= await configuredTypes(this.#worker)
    const types = this.#types
    return Promise.all(counters.map(async ({ type, key }) => (await addressOfKey(types.get(type)!, key)).recordId))
  }
}

/** Rows by range, in the order of their record ids. */
function groupsOf(rows: readonly number[], ids: readonly bigint[], ranges: number): number[][] {
  const sorted = rows.toSorted((a, b) => (ids[a]! < ids[b]! ? -1 : 1))
  return [...Map.groupBy(sorted, (row) => rangeOf(ids[row]!, ranges)).values()]
}
