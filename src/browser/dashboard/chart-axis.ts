import { showOnAxis } from './format-time.ts'
import type { By, Point } from './numbers.ts'

/** The estimated width of a letter, in pixels. */
export const CHARACTER = 8
/** The most days that are labelled by Mondays; with more, by months. */
const MAX_MONDAYS = 130

/**
 * The labels that fit on the axis: days on Mondays if not every day has room, months with the year in the place of January.
 * @param place the width of a unit, in pixels
 */
export function axisLabels(points: readonly Point[], by: By, place: number): { index: number; text: string }[] {
  const inMonths = by === 'month' || points.length > MAX_MONDAYS
  const labels = points.map(({ start }, index) => {
    const isJanuary = inMonths && start.slice(5, 7) === '01'
    const as = inMonths ? (isJanuary ? 'year' : 'month') : by === 'week' ? 'day' : by
    return { index, start, isJanuary, text: showOnAxis(new Date(start), as) }
  })
  const room = (Math.max(...labels.map(({ text }) => text.length)) + 2) * CHARACTER
  const shown = labels.filter(({ start }) => {
    if (by === 'day' && inMonths) return start.slice(8, 10) === '01'
    return by !== 'day' || place > room || weekday(start) === 1
  })
  const every = Math.ceil((room / place) * (shown.length / points.length))
  // The year is always among them.
  const phase =
    Math.max(
      0,
      shown.findIndex(({ isJanuary }) => isJanuary),
    ) % every
  return shown.filter((_, nth) => nth % every === phase)
}

/** Whether a day is part of the weekend where the visitor's locale is used. */
export function isWeekend(start: string): boolean {
  weekend ??= weekendOf(Intl.DateTimeFormat().resolvedOptions().locale)
  return weekend.includes(weekday(start))
}

let weekend: readonly number[] | undefined

/** Browsers have a method, an older property, or neither. */
function weekendOf(locale: string): readonly number[] {
  type Weekend = { weekend: number[] }
  const known = new Intl.Locale(locale) as Intl.Locale & { getWeekInfo?(): Weekend; weekInfo?: Weekend }
  return (known.getWeekInfo?.() ?? known.weekInfo)?.weekend ?? [6, 7]
}

/** From 1, Monday, to 7. @param start such as 2026-11-17T00:00:00+01:00 */
const weekday = (start: string) => new Date(start.slice(0, 10)).getUTCDay() || 7
