import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TimeZone } from '../../../../src/counters/history/time-zone.ts'
import {
  clockChanges,
  DAY_MS,
  type DateFacts,
  datesAround,
  FIRST_DATE,
  factsByTemporal,
  LAST_DATE,
} from './temporal-oracle.ts'

const factsOf = (zone: TimeZone, date: number): DateFacts => {
  const start = zone.startOf(date)
  return { start, clockTime: zone.clockTime(start), dateBefore: zone.dateAt(start - 1) }
}

describe('A time zone agrees with Temporal', () => {
  it('on any date, in every zone', () => {
    for (const name of Intl.supportedValuesOf('timeZone')) {
      const zone = new TimeZone(name)
      const date = fc.integer({ min: FIRST_DATE / DAY_MS, max: LAST_DATE / DAY_MS }).map((day) => day * DAY_MS)
      fc.assert(
        fc.property(date, (date) => {
          expect(factsOf(zone, date), name).toEqual(factsByTemporal(zone.name, date))
        }),
        { numRuns: 10 },
      )
    }
  })

  it.each([
    ['Pacific/Apia', '2011-12-30', 'which it left out'],
    ['Pacific/Kwajalein', '1993-08-21', 'which it left out'],
    ['Africa/Cairo', '2026-04-24', 'which begins at 01:00'],
    ['America/Toronto', '1987-04-05', 'of 23 hours'],
    ['America/Havana', '2026-11-01', 'which has midnight twice'],
    ['America/Sao_Paulo', '2018-11-04', 'which begins at 01:00'],
    ['Australia/Lord_Howe', '2026-04-05', 'of 24 hours and a half'],
    ['Africa/Monrovia', '1972-01-07', 'before which its clocks had seconds'],
    ['Asia/Kathmandu', '1986-01-01', 'which began at 00:15'],
    ['Africa/Casablanca', '2026-02-15', 'when Ramadan nears'],
    ['America/Scoresbysund', '2024-03-31', 'when it changed its offset and its clocks'],
    ['+05:45', '2026-11-22', 'with an offset instead of a name'],
  ])('in %s around %s, %s', (name, text) => {
    const zone = new TimeZone(name)
    for (const date of datesAround(Date.parse(text))) {
      expect(factsOf(zone, date)).toEqual(factsByTemporal(zone.name, date))
    }
  })

  it('in the spelling of its name', () => {
    expect([new TimeZone('utc').name, new TimeZone('europe/BERLIN').name]).toEqual(['UTC', 'Europe/Berlin'])
    expect(() => new TimeZone('Mars/Olympus')).toThrow(RangeError)
  })

  it('whatever was asked before', () => {
    const [change] = clockChanges('Europe/Berlin').slice(-1)
    const zone = new TimeZone('Europe/Berlin')
    const dates = datesAround(change!)
    const again = () => dates.map((date) => factsOf(zone, date))
    expect(again()).toEqual(again())
    expect(again()).toEqual(dates.map((date) => factsOf(new TimeZone('Europe/Berlin'), date)))
  })
})
