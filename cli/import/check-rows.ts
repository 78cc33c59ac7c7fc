import { counterId } from '../../src/counters/counter-address.ts'
import { addressOfKey, type KeyedType } from '../../src/counters/keys/key-address.ts'
import { counterPath, type WorkerClient } from '../worker-client.ts'
import { isCount } from './cell-values.ts'
import type { ImportRow } from './import-rows.ts'
import { LineError, Mistakes } from './mistakes.ts'

/** Reads all rows, and notes lines that are none. */
export type ReadRows = (mistakes: Mistakes) => AsyncIterable<ImportRow> | Iterable<ImportRow>

/**
 * Notes the rows whose type or key the Worker refuses, and those with which a total would leave 64 bits. Only a negative total is
 * left to the Worker.
 * @returns how many rows there are
 */
export async function checkRows(
  read: ReadRows,
  types: ReadonlyMap<string, KeyedType>,
  worker: WorkerClient,
  mistakes: Mistakes,
): Promise<number> {
  const wrong = (line: number, message: string) => mistakes.add(new LineError(line, message))
  let rows = 0
  const sums = new Map<string, { added: bigint; taken: bigint }>()
  for await (const { line, type: name, key, count } of read(mistakes)) {
    rows++
    const type = types.get(name)
    if (type === undefined) {
      wrong(line, 'type is not a configured counter type')
      continue
    }
    await addressOfKey(type, key).catch(({ message }: Error) => wrong(line, `key ${message}`))
    const { added, taken } = sums.get(name) ?? { added: 0n, taken: 0n }
    sums.set(name, count > 0n ? { added: added + count, taken } : { added, taken: taken + count })
  }
  mistakes.throwIfAny()

  const largest = new Map<string, bigint>()
  for (const [name, { added, taken }] of sums) {
    const top = `/v1/top/${encodeURIComponent(name)}?limit=1`
    const { counters } = await worker.get<{ counters: { count: number | bigint }[] }>(top)
    const most = BigInt(counters[0]?.count ?? 0)
    if (!isCount(added + most) || !isCount(taken)) largest.set(name, most)
  }
  // Nearly always, all counts of a type fit on top of its largest counter. Otherwise, the sum of each counter is kept in memory.
  if (largest.size === 0) return rows
  const totals = new Map<string, { sum: bigint; total: bigint | null }>()
  for await (const { line, type: name, key, count } of read(new Mistakes())) {
    const most = largest.get(name)
    if (most === undefined) continue
    const address = await addressOfKey(types.get(name)!, key)
    const counter = totals.get(counterId(address)) ?? { sum: 0n, total: null }
    totals.set(counterId(address), counter)
    counter.sum += count
    if (!isCount(counter.sum + most)) {
      const rolled = `${counterPath(name, key)}?consistency=rolled`
      counter.total ??= BigInt((await worker.get<{ count: number | bigint }>(rolled)).count)
    }
    if (!isCount(counter.sum + (counter.total ?? 0n))) wrong(line, 'with this count, the total exceeds 64 bits')
  }
  return rows
}
