import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import type { Span } from '../../../src/counters/history/selection.ts'
import type { PeriodName } from '../../../src/periods.ts'
import { chosenPeriod, comparedSpans } from '../../../src/service/chosen-period.ts'

const MIDNIGHT = 'T00:00:00'
/** What the clocks show, without midnight. */
const clock = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime().toString().replace(MIDNIGHT, '')

/** The two spans of a period, by the clocks of the time zone. */
function spansOf(
  asked: PeriodName | [from: string, to: string],
  now: string,
  { zone = 'UTC', hasHours = true }: { zone?: string; hasHours?: boolean } = {},
): string[] | null {
  const [from, to] = typeof asked === 'string' ? [] : asked
  const name = typeof asked === 'string' ? asked : 'custom'
  const spans = comparedSpans(chosenPeriod({ name, from, to }, zone, new Date(now)), Date.parse(now))
  if (spans === null) return null
  const { current, before } = hasHours ? spans.byHour : spans.byDay
  const text = ({ from, to }: Span) => `${clock(from, zone)} to ${clock(to, zone)}`
  return [text(current), text(before)]
}

describe('A running period is compared up to its last full hour, with the same span', () => {
  // A Thursday.
  const NOW = '2026-11-26T10:30:00Z'

  it.each<[PeriodName, string, string, string]>([
    ['today', '2026-11-26', '2026-11-19', '2026-11-19T10:00:00'],
    ['7d', '2026-11-20', '2026-11-13', '2026-11-19T10:00:00'],
    ['30d', '2026-10-28', '2026-09-23', '2026-10-22T10:00:00'],
    ['90d', '2026-08-29', '2026-05-30', '2026-08-27T10:00:00'],
    ['12m', '2025-12-01', '2024-12-01', '2025-11-26T10:00:00'],
  ])('%s', (name, from, before, until) => {
    expect(spansOf(name, NOW)).toEqual([`${from} to 2026-11-26T10:00:00`, `${before} to ${until}`])
  })

  it.each([
    ['2026-11-26T10:30:00Z', '2026-11-01 to 2026-11-26T10:00:00', '2026-10-04 to 2026-10-29T10:00:00'],
    ['2026-11-01T10:30:00Z', '2026-11-01 to 2026-11-01T10:00:00', '2026-10-25 to 2026-10-25T10:00:00'],
  ])('this month, at %s', (now, current, before) => {
    expect(spansOf('month', now)).toEqual([current, before])
  })

  it.each([3, 7, 8, 30, 35, 100, 999])('%s days that end today, shifted by whole weeks', (days) => {
    const to = Temporal.PlainDate.from('2026-11-26')
    const [from, shift] = [to.subtract({ days: days - 1 }), Math.ceil(days / 7) * 7]
    expect(spansOf([from.toString(), to.toString()], NOW)).toEqual([
      `${from} to 2026-11-26T10:00:00`,
      `${from.subtract({ days: shift })} to ${to.subtract({ days: shift })}T10:00:00`,
    ])
  })

  it('up to yesterday, if the hours of a day are not known', () => {
    const byDay = { hasHours: false }
    expect(spansOf('7d', NOW, byDay)).toEqual(['2026-11-20 to 2026-11-26', '2026-11-13 to 2026-11-19'])
    expect(spansOf('12m', NOW, byDay)).toEqual(['2025-12-01 to 2026-11-26', '2024-12-01 to 2025-11-26'])
    // Nothing of today is over.
    expect(spansOf('today', NOW, byDay)).toEqual(['2026-11-26 to 2026-11-26', '2026-11-19 to 2026-11-19'])
  })

  it('by the clock, also if it was changed in between', () => {
    const zone = 'Europe/Berlin'
    expect(spansOf('7d', '2026-10-29T11:30:00Z', { zone })).toEqual([
      '2026-10-23 to 2026-10-29T12:00:00',
      '2026-10-16 to 2026-10-22T12:00:00',
    ])
    // A week before, 2 o'clock was left out.
    expect(spansOf('today', '2026-04-05T00:30:00Z', { zone })).toEqual([
      '2026-04-05 to 2026-04-05T02:00:00',
      '2026-03-29 to 2026-03-29T03:00:00',
    ])
    // On this day, it comes twice.
    expect(spansOf('today', '2026-10-25T01:30:00Z', { zone })).toEqual([
      '2026-10-25 to 2026-10-25T02:00:00',
      '2026-10-18 to 2026-10-18T02:00:00',
    ])
    // There, that day began at one o'clock.
    expect(spansOf('today', '2026-09-13T03:30:00Z', { zone: 'America/Santiago' })).toEqual([
      '2026-09-13 to 2026-09-13',
      '2026-09-06T01:00:00 to 2026-09-06T01:00:00',
    ])
  })

  it('that begins within the hour of which midnight is a part', () => {
    const zone = 'Asia/Kathmandu'
    const none = ['2026-11-26 to 2026-11-26', '2026-11-19 to 2026-11-19']
    expect(spansOf('today', '2026-11-25T18:40:00Z', { zone })).toEqual(none)
    expect(spansOf('today', '2026-11-25T19:10:00Z', { zone })?.[0]).toBe('2026-11-26 to 2026-11-26T00:45:00')
  })

  it('of a year before, on the 29th of February too', () => {
    expect(spansOf('12m', '2028-02-29T18:20:00Z')).toEqual([
      '2027-03-01 to 2028-02-29T18:00:00',
      '2026-03-01 to 2027-03-01T18:00:00',
    ])
  })
})

describe('A finished period', () => {
  it('is compared whole with its predecessor', () => {
    expect(spansOf(['2026-11-01', '2026-11-30'], '2026-12-01T00:00:00Z')).toEqual([
      '2026-11-01 to 2026-12-01',
      '2026-09-27 to 2026-10-27',
    ])
    expect(spansOf(['2026-11-24', '2026-11-25'], '2026-12-01T00:00:00Z')).toEqual([
      '2026-11-24 to 2026-11-26',
      '2026-11-17 to 2026-11-19',
    ])
  })

  it.each<[PeriodName, string, string, string]>([
    ['yesterday', '2026-11-26T10:30:00Z', '2026-11-25 to 2026-11-26', '2026-11-18 to 2026-11-19'],
    ['yesterday', '2026-01-01T00:00:00Z', '2025-12-31 to 2026-01-01', '2025-12-24 to 2025-12-25'],
    ['last-month', '2026-11-26T10:30:00Z', '2026-10-01 to 2026-11-01', '2026-08-27 to 2026-09-27'],
    ['last-month', '2026-01-31T23:59:59Z', '2025-12-01 to 2026-01-01', '2025-10-27 to 2025-11-27'],
    ['last-month', '2026-03-31T10:30:00Z', '2026-02-01 to 2026-03-01', '2026-01-04 to 2026-02-01'],
  ])('of the name %s, at %s', (name, now, current, before) => {
    expect(spansOf(name, now)).toEqual([current, before])
  })

  it('of a month has the days of the time zone', () => {
    // There, it is already the first of December.
    expect(spansOf('last-month', '2026-11-30T18:00:00Z', { zone: 'Asia/Tokyo' })).toEqual([
      '2026-11-01 to 2026-12-01',
      '2026-09-27 to 2026-10-27',
    ])
  })

  it('has the days of its predecessor, however long these are', () => {
    for (const zone of ['Europe/Berlin', 'America/Santiago', 'Africa/Cairo', 'Australia/Lord_Howe']) {
      for (let day = 0; day < 730; day++) {
        const to = Temporal.PlainDate.from('2024-12-01').add({ days: day })
        for (const days of [1, 10]) {
          const period = chosenPeriod(
            { name: 'custom', from: to.subtract({ days: days - 1 }).toString(), to: to.toString() },
            zone,
            new Date('2026-12-02T00:00:00Z'),
          )
          const startOf = (date: Temporal.PlainDate) => date.toZonedDateTime(zone).epochMilliseconds
          const shift = days === 1 ? 7 : 14
          expect(comparedSpans(period, period.to)?.byHour.before, `${zone} ${to}`).toMatchObject({
            from: startOf(to.subtract({ days: shift + days - 1 })),
            to: startOf(to.subtract({ days: shift - 1 })),
          })
        }
      }
    }
  })

  it('is not compared if it is all time', () => {
    expect(spansOf('all', '2026-12-01T00:00:00Z')).toBe(null)
  })

  it('of more than 999 days consists of whole months, and is not compared', () => {
    const period = chosenPeriod({ name: 'custom', from: '2023-01-15', to: '2025-12-05' }, 'UTC', new Date('2026-12-01'))
    expect([period.by, period.from, period.to, period.earlier]).toEqual([
      'month',
      Date.UTC(2023, 0, 1),
      Date.UTC(2026, 0, 1),
      null,
    ])
  })
})
