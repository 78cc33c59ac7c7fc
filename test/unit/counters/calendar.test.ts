import { describe, expect, it } from 'vitest'
import { type CalendarPeriod, startOf } from '../../../src/counters/calendar.ts'

describe('The start of the', () => {
  it.each<[CalendarPeriod | 'week', string, string]>([
    ['hour', '2026-11-20T10:59:59.999Z', '2026-11-20T10:00:00.000Z'],
    ['day', '2026-11-20T23:59:59.999Z', '2026-11-20T00:00:00.000Z'],
    ['day', '2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.000Z'],
    ['week', '2026-11-16T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ['week', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z'],
    ['week', '2027-01-01T12:00:00.000Z', '2026-12-28T00:00:00.000Z'],
    ['month', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z'],
  ])('%s of %s is %s', (period, at, start) => {
    expect(startOf(period, new Date(at)).toISOString()).toBe(start)
  })
})
