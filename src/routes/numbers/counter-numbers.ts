import type { CounterType } from '../../config/counter-types.ts'
import { DAY_MS } from '../../counters/calendar.ts'
import { historyOfCounter } from '../../counters/history/read-history.ts'
import type { AddressCache } from '../../counters/keys/counter-address.ts'
import { countIn, readCounters } from '../../counters/read/read-counters.ts'
import { toJsonNumber } from '../../database/values.ts'
import { counterOfKey } from '../../service/named-counters.ts'
import { chartOf, figuresOf, readHistory } from './history-numbers.ts'
import { periodOf, type Source } from './numbers-query.ts'

/**
 * The numbers of a counter's page, pending counts included.
 * @param also the type that counts the same visits in another way, with the same key
 * @throws {InvalidInput} if the period, the time zone or the key is not valid
 */
export async function counterNumbers(
  source: Source,
  addresses: AddressCache,
  { type, key }: { type: CounterType; key: string },
  also: CounterType | undefined,
) {
  const period = periodOf(source)
  const read = async (of: CounterType) => {
    const counter = await counterOfKey(addresses, of, key)
    const [history, [reading]] = await Promise.all([
      readHistory(source, period, historyOfCounter(source.db, counter, hoursSince(source))),
      readCounters(source.db, [counter]),
    ])
    return { history, reading: reading! }
  }
  const [own, other] = await Promise.all([read(type), also && read(also)])
  const { total, pending, rolledUpAt } = own.reading
  return {
    timeZone: period.range.zone.name,
    figures: figuresOf(own.history),
    chart: chartOf(source, period, own.history, other?.history),
    total: toJsonNumber(countIn(own.reading)),
    rolled: toJsonNumber(total),
    pending: toJsonNumber(pending!),
    rolledUpAt: rolledUpAt?.toISOString() ?? null,
    adjustments: own.history.units.adjustments.map(({ at, kind, count }) => ({
      at: at.toISOString(),
      kind,
      count: toJsonNumber(count),
    })),
    ...(other && { also: { figures: figuresOf(other.history), total: toJsonNumber(countIn(other.reading)) } }),
  }
}

/** Since when every day that was counted has its hours. The day before is not expired yet in any case. */
function hoursSince({ now, config }: Source): number {
  return now.getTime() - (config.history.hourDays - 1) * DAY_MS
}
