import { expect, it } from 'vitest'
import { TimeZone } from '../../../../src/counters/history/time-zone.ts'
import { clockChanges, datesAround, factsByTemporal } from './temporal-oracle.ts'

it('A time zone agrees with Temporal around every change of the clocks from 1970 to 2100, in every zone', () => {
  const wrong: string[] = []
  let compared = 0
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const zone = new TimeZone(name)
    for (const date of new Set(clockChanges(zone.name).flatMap(datesAround))) {
      const { start, clockTime } = factsByTemporal(zone.name, date)
      if (zone.startOf(date) !== start || zone.clockTime(start) !== clockTime) wrong.push(`${name} ${clockTime}`)
      compared++
    }
  }
  expect(compared).toBeGreaterThan(100_000)
  expect(wrong).toEqual([])
})
