import type { CounterType } from '../config/counter-types.ts'
import type { TotalReading } from '../counters/history/read-total.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { askedPrefix } from '../http/asked-prefix.ts'
import { publicReading } from '../http/endpoint.ts'
import { readTotalFor } from '../http/read-for-request.ts'
import { totalOfType, type totalOfTypeContract } from './type-total-contract.ts'

/** The sum of the counters of a type, or of those whose keys begin with a prefix. */
export const typeTotal = publicReading<typeof totalOfTypeContract>(totalOfType, async (c, { type, query }) => {
  const prefix = await askedPrefix(c, type, query.prefix)
  const { reading, maxAge } = await readTotalFor(c, type, prefix, query.consistency)
  return { answer: totalAnswer(type, prefix, reading, toJsonNumber), maxAge }
})

/** What is answered about a total. */
export function totalAnswer<Count>(
  type: CounterType,
  prefix: string | null,
  { total, pending, rolledUpAt }: TotalReading,
  toCount: (count: bigint) => Count,
) {
  return {
    type: type.name,
    prefix,
    count: toCount(total + (pending ?? 0n)),
    total: toCount(total),
    pending: pending === null ? null : toCount(pending),
    consistency: pending === null ? ('rolled' as const) : ('exact' as const),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
  }
}
