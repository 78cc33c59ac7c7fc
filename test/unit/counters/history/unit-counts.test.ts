import fc from 'fast-check'
import { expect, it } from 'vitest'
import { chosenPeriod } from '../../../../src/counters/history/chosen-period.ts'
import { type DetailedRow, sourcesOfUnits, unitCounts } from '../../../../src/counters/history/unit-counts.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The clocks of a time zone, by the JavaScript engine. */
function clocksOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  })
  // Such as "2026-11-20, 18".
  return (at: number) => format.format(at)
}

it('Of a month, as much is compared as had been counted at the same date and time', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati')
  // The first and the last day of months, one of which a year before has a day less.
  const now = fc.constantFrom('2028-02-29T18:20:00Z', '2026-03-31T12:50:00Z', '2026-11-01T16:30:00Z')
  const hoursAgo = fc.array(fc.nat(500 * 24), { minLength: 100, maxLength: 300 })
  fc.assert(
    fc.property(zone, now, hoursAgo, (timeZone, text, ago) => {
      const now = Date.parse(text)
      const lastHour = now - (now % HOUR)
      const at = [
        ...new Set([
          ...ago,
          ...Array.from({ length: 60 }, (_, i) => i),
          ...Array.from({ length: 60 }, (_, i) => 366 * 24 + i - 30),
        ]),
      ].map((hours) => lastHour - hours * HOUR)
      const rows = at.map((start): DetailedRow => ({ unit: 'hour', start, count: 1n, imported: 0n }))
      const add = (unit: 'day' | 'month', start: number) => rows.push({ unit, start, count: 1n, imported: 0n })
      for (const start of at) {
        add('day', Math.floor(start / DAY) * DAY)
        add('month', new Date(start).setUTCDate(1) - (start % DAY))
      }
      const period = chosenPeriod({ name: '12m' }, timeZone, new Date(now))
      const sources = sourcesOfUnits(period, now)
      const read = rows.filter((row) =>
        sources.some(({ unit, from, to, only }) => {
          if (row.unit !== unit || row.start < from || row.start >= to) return false
          if (only === undefined) return true
          const hour = new Date(row.start).getUTCHours()
          const { around, times } = only
          const isNear = around !== null && (hour >= 24 - around.before || hour < around.after)
          return isNear || times.some((times) => row.start >= times.from && row.start < times.to)
        }),
      )
      const clock = clocksOf(timeZone)
      const month = clock(now).slice(0, 7)
      // Nothing is known of a month that began within this hour.
      const date = clock(lastHour).startsWith(month) ? clock(lastHour).slice(8) : ''
      const before = `${Number(month.slice(0, 4)) - 1}${month.slice(4)}`
      const soFar = (month: string) =>
        at.filter((start) => clock(start).startsWith(month) && clock(start).slice(8) < date).length
      const units = unitCounts(period, read, now)
      const compared = units.flatMap(({ soFar }) => (soFar === null ? [] : [Number(soFar)]))
      expect([timeZone, text, compared]).toEqual([timeZone, text, [soFar(before), soFar(month)]])
    }),
    { numRuns: 100 },
  )
})
