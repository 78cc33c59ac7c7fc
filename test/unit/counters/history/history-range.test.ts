import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AskedRange, historyRange, MAX_POINTS } from '../../../../src/counters/history/history-range.ts'
import { selectionsOf, startsOf } from '../../../../src/counters/history/selection.ts'

const NOW = new Date('2026-11-20T10:30:00Z')
const range = (asked: Partial<AskedRange>) =>
  historyRange({ by: 'day', timeZone: 'UTC', from: undefined, to: undefined, ...asked }, NOW)
/** The local time at the beginning of each period, and at the end of the last. */
const edges = (asked: Partial<AskedRange>) => {
  const { edges, zone } = range(asked)
  return edges.map((edge) => zone.clockTime(edge))
}
const hoursOf = (asked: Partial<AskedRange>) => {
  const { edges } = range(asked)
  return edges.slice(1).map((edge, index) => (edge - edges[index]!) / 3_600_000)
}

describe('The periods of a range', () => {
  it.each([
    ['hour', 24, '2026-11-19T11:00:00Z', '2026-11-20T11:00:00Z'],
    ['day', 30, '2026-10-22T00:00:00Z', '2026-11-21T00:00:00Z'],
    ['week', 12, '2026-08-31T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['month', 12, '2025-12-01T00:00:00Z', '2026-12-01T00:00:00Z'],
  ] as const)('by %s are the last %d by default, the current one included', (by, length, first, end) => {
    const all = edges({ by })
    expect([all.length - 1, all[0], all.at(-1)]).toEqual([length, first, end])
  })

  it('are whole periods, and end with the one that contains the instant before "to"', () => {
    expect(edges({ from: '2026-11-01T23:59:59.999Z', to: '2026-11-02T00:00:00.001Z' })).toEqual([
      '2026-11-01T00:00:00Z',
      '2026-11-02T00:00:00Z',
      '2026-11-03T00:00:00Z',
    ])
    expect(edges({ from: '2026-11-01', to: '2026-11-02' })).toHaveLength(2)
    expect(edges({ by: 'month', from: '2026-02-28', to: '2026-03-01' })).toEqual([
      '2026-02-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ])
  })

  it('by week are whole weeks from the local Monday, across years and changes of the clocks', () => {
    const timeZone = 'Europe/Berlin'
    // Sunday to Sunday: two weeks. The year 2024 ends within the second one.
    expect(edges({ by: 'week', timeZone, from: '2024-12-29', to: '2024-12-30' })).toEqual([
      '2024-12-23T00:00:00+01:00',
      '2024-12-30T00:00:00+01:00',
    ])
    expect(edges({ by: 'week', timeZone, from: '2024-12-29', to: '2025-01-01' })).toEqual([
      '2024-12-23T00:00:00+01:00',
      '2024-12-30T00:00:00+01:00',
      '2025-01-06T00:00:00+01:00',
    ])
    expect(hoursOf({ by: 'week', timeZone, from: '2026-03-23', to: '2026-04-06' })).toEqual([7 * 24 - 1, 7 * 24])
    expect(hoursOf({ by: 'week', timeZone, from: '2026-10-19', to: '2026-11-02' })).toEqual([7 * 24 + 1, 7 * 24])
    // Sunday evening in New York is Monday in UTC.
    const evening = { from: '2026-11-16T02:00:00Z', to: '2026-11-16T03:00:00Z' }
    expect(edges({ by: 'week', timeZone: 'America/New_York', ...evening })[0]).toBe('2026-11-09T00:00:00-05:00')
    expect(edges({ by: 'week', from: '1970-01-01', to: '1970-01-02' })[0]).toBe('1969-12-29T00:00:00Z')
  })

  it('are the default number before "to", or all from "from" to the current one', () => {
    expect(edges({ to: '2026-03-31' })).toHaveLength(31)
    expect(edges({ by: 'month', to: '2026-03-31' })[0]).toBe('2025-04-01T00:00:00Z')
    expect(edges({ from: '2026-11-19' })).toEqual([
      '2026-11-19T00:00:00Z',
      '2026-11-20T00:00:00Z',
      '2026-11-21T00:00:00Z',
    ])
  })

  it('begin at local midnight, on days of 23, 24 and 25 hours', () => {
    const timeZone = 'Europe/Berlin'
    expect(edges({ timeZone, from: '2026-03-28', to: '2026-03-30' })).toEqual([
      '2026-03-28T00:00:00+01:00',
      '2026-03-29T00:00:00+01:00',
      '2026-03-30T00:00:00+02:00',
    ])
    expect(hoursOf({ timeZone, from: '2026-03-28', to: '2026-03-31' })).toEqual([24, 23, 24])
    expect(hoursOf({ timeZone, from: '2026-10-24', to: '2026-10-27' })).toEqual([24, 25, 24])
    expect(hoursOf({ timeZone: 'Australia/Lord_Howe', from: '2026-04-04', to: '2026-04-06' })).toEqual([24, 24.5])
  })

  it('begin where the day begins if there is no midnight, and leave out days that the time zone skipped', () => {
    expect(edges({ timeZone: 'Africa/Cairo', from: '2026-04-24', to: '2026-04-25' })).toEqual([
      '2026-04-24T01:00:00+03:00',
      '2026-04-25T00:00:00+03:00',
    ])
    const apia = range({ timeZone: 'Pacific/Apia', from: '2011-12-29', to: '2012-01-01' })
    expect(apia.edges).toHaveLength(3)
    // Counts that are known only by day belong to the day that begins then.
    const parts = selectionsOf(apia).map((selection) => selection.filter(({ unit }) => unit === 'day'))
    const days = parts.map((runs) => startsOf('day', runs).map((day) => new Date(day).toISOString().slice(0, 10)))
    expect(days).toEqual([['2011-12-29'], ['2011-12-30', '2011-12-31']])
  })

  it('by hour are UTC hours, and in time zones with half hours begin with the first that begins in the day', () => {
    expect(
      edges({ by: 'hour', timeZone: 'Asia/Kolkata', from: '2026-11-20', to: '2026-11-20T01:00:00+05:30' }),
    ).toEqual(['2026-11-20T00:30:00+05:30', '2026-11-20T01:30:00+05:30'])
  })

  it('cover the range and nothing beyond, in every time zone', () => {
    const zones = Intl.supportedValuesOf('timeZone')
    const instant = fc.integer({ min: Date.UTC(1973, 0, 1), max: Date.UTC(2090, 0, 1) })
    fc.assert(
      fc.property(
        fc.constantFrom('hour', 'day', 'week', 'month'),
        fc.constantFrom(...zones),
        instant,
        fc.integer({ min: 1, max: 80 * 86_400_000 }),
        (by, timeZone, begin, length) => {
          const [from, to] = [begin, begin + length].map((at) => new Date(at).toISOString())
          const { edges } = range({ by, timeZone, from, to })
          expect(edges[0]!).toBeLessThanOrEqual(begin)
          expect(edges[1]!).toBeGreaterThan(begin)
          expect(edges.at(-1)!).toBeGreaterThanOrEqual(begin + length)
          expect(edges.at(-2)!).toBeLessThan(begin + length)
          expect(edges.toSorted((a, b) => a - b)).toEqual(edges)
          expect(new Set(edges).size).toBe(edges.length)
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    [{ timeZone: 'Europe/Berlin; DROP TABLE' }, 'tz'],
    [{ from: '2026-11-21' }, 'from'],
    [{ from: '2026-11-02', to: '2026-11-02' }, 'to'],
    [{ from: '2026-02-30T00:00Z' }, 'from'],
    [{ from: '1969-12-30', to: '1970-02-01' }, 'from'],
    [{ to: '2101-02-01' }, 'to'],
  ] as const)('are refused for %j with an error for %s', (asked, field) => {
    expect(() => range(asked)).toThrow(expect.objectContaining({ field }))
  })

  it('are at most 2,000', () => {
    const days = (count: number) => new Date(Date.UTC(2026, 10, 1) - count * 86_400_000).toISOString()
    expect(edges({ from: days(MAX_POINTS), to: '2026-11-01' })).toHaveLength(MAX_POINTS + 1)
    expect(() => range({ from: days(MAX_POINTS + 1), to: '2026-11-01' })).toThrow('at most 2000')
    expect(edges({ by: 'month', from: '1970-01-01', to: '2101-01-01' })).toHaveLength(131 * 12 + 1)
  })
})
