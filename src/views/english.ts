/* Numbers and dates as pages and images write them: in English, without Intl, whose formats take long to make. */
import type { HistoryUnit } from '../counters/history/history-range.ts'

/** All digits. */
export function showCount(count: bigint | number): string {
  const digits = String(count)
  return digits.length < 4 ? digits : digits.replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** All digits, with a sign. */
export function showChange(count: bigint): string {
  return count > 0n ? `+${showCount(count)}` : showCount(count)
}

/** Short, for the axis of a chart: "2.5K". */
export function showShort(count: number): string {
  const thousands = Math.min(4, Math.floor(Math.log10(Math.abs(count) || 1) / 3))
  return showCount(Math.round((count / 1_000 ** thousands) * 10) / 10) + ['', 'K', 'M', 'B', 'T'][thousands]!
}

/** Counts of a period and of the one before; `null`: nothing can be compared. */
export interface Change {
  compared: bigint | null
  before: bigint | null
}

/** A change in words: "▲ 5%", "▼ 3%", from the tenfold on "▲ ×20". Empty if nothing can be compared. */
export function showGrowth({ compared: now, before: then }: Change): string {
  if (now === null || then === null || then <= 0n) return ''
  if (now >= 10n * then) return `▲ ×${showCount(now / then)}`
  const percent = Math.round(Number(((now > then ? now - then : then - now) * 10_000n) / then) / 100)
  return percent === 0 ? '0%' : `${now > then ? '▲' : '▼'} ${percent}%`
}

/** A part of a whole: "77%", "<1%". Empty if there is none. */
export function showShare(part: bigint, whole: bigint): string {
  if (part <= 0n || whole <= 0n) return ''
  const percent = Math.round(Number((part * 1_000n) / whole) / 10)
  return percent === 0 ? '<1%' : `${showCount(percent)}%`
}

/** What was counted in a day on average: "63", below ten with a tenth. */
export function showAverage(count: bigint, days: number): string {
  const average = Number(count) / days
  const tenths = Math.round(average * 10) / 10
  return tenths === 0 && count > 0n ? '<0.1' : showCount(Math.abs(tenths) < 10 ? tenths : Math.round(average))
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

// Texts such as 2026-11-28, or a clock time that begins so.
const yearOf = (day: string) => day.slice(0, 4)
const monthOf = (day: string) => MONTHS[Number(day.slice(5, 7)) - 1]!
const dateOf = (day: string) => Number(day.slice(8, 10))

/** From 0, Sunday, to 6. */
export const weekdayOf = (day: string) => new Date(day.slice(0, 10)).getUTCDay()

/** "Saturday", of the day that is so many days later. */
export const showWeekday = (day: string, later = 0) => WEEKDAYS[(weekdayOf(day) + later + 7) % 7]!

/** "Saturday 28 November". */
export const showToday = (day: string) => `${showWeekday(day)} ${dateOf(day)} ${monthOf(day)}`

/** "28 Nov". */
export const showDay = (day: string) => `${dateOf(day)} ${monthOf(day).slice(0, 3)}`

/** "Nov", and in the place of January, its year. */
export const showMonth = (day: string) => (day.slice(5, 7) === '01' ? yearOf(day) : monthOf(day).slice(0, 3))

/** "29 Oct – 27 Nov 2026". */
export function showDays(first: string, last: string): string {
  const end = `${showDay(last)} ${yearOf(last)}`
  if (first === last) return end
  if (yearOf(first) !== yearOf(last)) return `${showDay(first)} ${yearOf(first)} – ${end}`
  return `${first.slice(0, 7) === last.slice(0, 7) ? dateOf(first) : showDay(first)} – ${end}`
}

/** The first and the last day of a unit. */
export type Days = readonly [first: string, last: string]

/** The time of a unit: "Sat 28 Nov, 14:00", "Sat 28 Nov", "November", otherwise its days. With its year if that is not today's. */
export function showUnit(by: HistoryUnit, [first, last]: Days, start: string, today: string): string {
  const year = yearOf(first) === yearOf(today) ? '' : ` ${yearOf(first)}`
  if (by === 'month' && first.endsWith('-01')) return monthOf(first) + year
  if (by !== 'hour' && first !== last) return showDays(first, last)
  const day = `${showWeekday(first).slice(0, 3)} ${showDay(first)}${year}`
  return by === 'hour' ? `${day}, ${clockOf(start)}` : day
}

/** "14:00", of a clock time such as 2026-11-28T14:00:00+01:00. */
export const clockOf = (time: string) => time.slice(11, 16)
