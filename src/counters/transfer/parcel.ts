import type { DayHistory } from '../ledger/periods.ts'

/** A part of a counter on its way to another one. */
export interface Parcel {
  /** What left the source's count. */
  amount: bigint
  days: readonly DayHistory[]
  /** Whether the source had imports: then some of its days have no hours. */
  imported: boolean
}

/** The text of a parcel, for the database. Days and hours are in seconds since 1970. */
export function packParcel({ amount, days, imported }: Parcel): string {
  const seconds = (time: Date) => time.getTime() / 1_000
  return JSON.stringify({
    amount: `${amount}`,
    imported,
    days: days.map(({ start, count, hours }) => [
      seconds(start),
      `${count}`,
      hours.map((hour) => [seconds(hour.start), `${hour.count}`]),
    ]),
  })
}

/** The parcel of a text made by `packParcel`. */
export function unpackParcel(text: string): Parcel {
  type Entry = [number, string]
  const { amount, imported, days } = JSON.parse(text) as {
    amount: string
    imported: boolean
    days: [...Entry, Entry[]][]
  }
  const entry = (start: number, count: string) => ({ start: new Date(start * 1_000), count: BigInt(count) })
  return {
    amount: BigInt(amount),
    imported,
    days: days.map(([start, count, hours]) => ({
      ...entry(start, count),
      hours: hours.map(([hour, sum]) => entry(hour, sum)),
    })),
  }
}
