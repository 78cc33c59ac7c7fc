import { ask, type History, path } from './api.ts'
import { byId } from './elements.ts'
import { showCount, showGrowth, sum } from './format-counts.ts'
import { showClock } from './format-time.ts'
import { historyParameters, startOfDay, startOfHour } from './ranges.ts'

/**
 * Shows the counts of today and yesterday. They are compared up to the last full hour, because the history is exact by the
 * hour.
 */
export async function showTodayAndYesterday(type: string): Promise<void> {
  const now = new Date()
  const midnight = startOfDay(now)
  const hour = startOfHour(now)
  const parameters = historyParameters({ from: startOfDay(now, -1), by: 'hour' })
  const { points } = await ask<History>('GET', path(['types', type, 'history'], parameters))
  const between = (from: Date, to: Date) =>
    sum(points.filter(({ start }) => new Date(start) >= from && new Date(start) < to))
  const yesterday = startOfDay(now, -1)
  // By the clock, because not every day has 24 hours.
  const sameHour = new Date(hour)
  sameHour.setDate(hour.getDate() - 1)
  const before = between(yesterday, sameHour)
  const until = between(midnight, hour)
  byId('today').textContent = showCount(between(midnight, new Date(8.64e15)))
  byId('yesterday').textContent = showCount(between(yesterday, midnight))
  byId('compared-label').textContent = `Today until ${showClock(hour)}`
  byId('compared').textContent = showCount(until)
  const growth = showGrowth(until, before)
  byId('difference').textContent = `yesterday ${showCount(before)}${growth === '' ? '' : ` (${growth})`}`
}
