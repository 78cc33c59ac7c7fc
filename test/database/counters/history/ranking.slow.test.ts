import { Temporal } from 'temporal-polyfill'
import { beforeAll, describe, expect, it } from 'vitest'
import { periodAt } from '../../../../src/counters/history/history-range.ts'
import { readRanking } from '../../../../src/counters/history/ranking.ts'
import { readCounterHistory, readRows } from '../../../../src/counters/history/read-history.ts'
import { differenceOf, type Span, selectionOf, selectionsOf } from '../../../../src/counters/history/selection.ts'
import { addressOfKey, type KeyedType } from '../../../../src/counters/keys/key-address.ts'
import { readSumHistory } from '../../../../src/counters/read/read-sum.ts'
import { PERIOD_NAMES } from '../../../../src/periods.ts'
import { type ChosenPeriod, chosenPeriod, comparedSpans } from '../../../../src/service/chosen-period.ts'
import { type HistoryReader, readPeriods, type Unit } from '../../../../src/service/period-counts.ts'
import { countPeriods } from '../../../harness/count-periods.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const TYPE: KeyedType = { recordType: 1 }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** In the zones below, the period has days of 23, 24 and 25 hours, and the clocks have another offset at its ends. */
const NOWS = ['2026-11-22T18:20:00Z', '2026-04-10T03:30:00Z']
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland']
const countsIn = (units: readonly Unit[]) => units.map(({ count }) => count)
const KEYS = ['/', '/a', '/b', '/c', '/d', '/e']

/** What was counted: in an hour, or imported for a UTC day. */
interface Count {
  key: string
  at: number
  amount: bigint
  imported: boolean
}

/** Numbers that look random and are the same every time. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

describe.each(NOWS)('At %s', (text) => {
  const now = new Date(text)
  const ledger: Count[] = []
  let db: TestDatabase
  beforeAll(async () => {
    db = await freshDatabase()
    const random = numbersFrom(now.getTime() / HOUR_MS)
    const hour = now.getTime() - (now.getTime() % HOUR_MS)
    const add = (at: number, imported: boolean) =>
      ledger.push({
        key: KEYS[Math.floor(random() ** 2 * KEYS.length)]!,
        at,
        amount: BigInt(Math.ceil(random() * 99)),
        imported,
      })
    // Close to now, where the days begin and end; then further back.
    for (let back = 0; back < 70; back++) add(hour - back * HOUR_MS, false)
    // Where seven days and the seven before meet.
    for (let back = 120; back < 200; back++) add(hour - back * HOUR_MS, false)
    for (let count = 0; count < 150; count++) add(hour - Math.floor(random() * 70 * 24) * HOUR_MS, false)
    for (let count = 0; count < 60; count++) add(hour - Math.floor(random() * 900 * 24) * HOUR_MS, false)
    for (let count = 0; count < 40; count++) {
      const day = Math.floor((hour - Math.floor(random() * 900) * DAY_MS) / DAY_MS) * DAY_MS
      if (day > hour - 800 * DAY_MS && day < hour - 3 * DAY_MS) add(day, true)
    }
    for (const { key, at, amount, imported } of ledger) {
      const { recordId } = await addressOfKey(TYPE, key)
      const change = { recordType: 1, recordId, amount }
      await countPeriods(db, [change], new Date(at), imported ? 'day' : undefined)
    }
    for (const key of KEYS) {
      const { recordId } = await addressOfKey(TYPE, key)
      await db.arrange(`INSERT IGNORE INTO counters (record_type, record_id, name) VALUES (1, ${recordId}, '${key}')`)
    }
  })

  /** What the ledger has in a span. */
  const countedIn = ({ from, to, firstDay, nextDay }: Span, of = (_: Count) => true) =>
    ledger
      .filter(of)
      .filter(({ at, imported }) => (imported ? at >= firstDay && at < nextDay : at >= from && at < to))
      .reduce((sum, { amount }) => sum + amount, 0n)

  /** What the ledger has in each unit of a period. */
  const countsOf = ({ range, first }: ChosenPeriod, of = (_: Count) => true) => {
    const counts = range.edges.slice(1).map(() => 0n)
    for (const { at, amount, imported } of ledger.filter(of)) {
      const index = periodAt(range, imported && range.by !== 'hour' ? range.zone.startOf(at) : at)
      if (index !== undefined) counts[index]! += amount
    }
    return counts.slice(first)
  }

  const ranked = (name: string, period: Span) =>
    readRanking(db, { recordType: 1, name }, selectionOf(period), { limit: 10, hoursFrom: 0 })
  const ofType = async (): Promise<HistoryReader> => {
    const of = { recordType: 1, name: '' }
    return (selections) => readSumHistory(db, of, { selections, hoursFrom: 0 })
  }

  it.each(ZONES)('every number of every period equals the ledger in %s', async (zone) => {
    const today = Temporal.Instant.from(now.toISOString()).toZonedDateTimeISO(zone).toPlainDate()
    const custom = { from: today.subtract({ days: 400 }).toString(), to: today.subtract({ days: 20 }).toString() }
    const short = { from: today.subtract({ days: 1 }).toString(), to: today.toString() }
    const asked = [
      ...PERIOD_NAMES.filter((name) => name !== 'all').map((name) => ({ name })),
      { name: 'custom', ...custom } as const,
      { name: 'custom', ...short } as const,
    ]
    let partsCompared = 0
    for (const one of asked) {
      const period = chosenPeriod(one, zone, now)
      // The days of the period, by another library.
      const date = (day: number) => Temporal.PlainDate.from(new Date(day).toISOString().slice(0, 10))
      const first = date(period.firstDay)
      expect(period.from).toBe(first.toZonedDateTime(zone).epochMilliseconds)
      const next = date(period.nextDay)
      expect(period.to).toBe(next.toZonedDateTime(zone).epochMilliseconds)

      const say = `${zone} ${JSON.stringify(one)}`
      const { compared, units } = await readPeriods(await ofType(), [period], now.getTime())
      const shown = compared[0]!
      expect(shown.count, say).toBe(countedIn(period))
      expect(countsIn(units), say).toEqual(countsOf(period))

      const counters = await ranked('', period)
      const expected = KEYS.map((key) => ({ key, count: countedIn(period, (count) => count.key === key) }))
        .filter(({ count }) => count > 0n)
        .sort((a, b) => Number(b.count - a.count))
      expect(
        counters.map(({ name, count }) => ({ key: name, count })),
        say,
      ).toEqual(expect.arrayContaining(expected))
      expect(
        counters.map(({ count }) => count),
        say,
      ).toEqual(expected.map(({ count }) => count))
      const shownUnits = { ...period.range, edges: period.range.edges.slice(period.first) }
      const charted = await readRows(db, counters, { charts: selectionsOf(shownUnits), hoursFrom: 0 })
      const ofKeys = counters.map(({ name }) => countsOf(period, ({ key }) => key === name))
      expect(
        charted.map(({ charts }) => charts),
        say,
      ).toEqual(ofKeys)
      const found = await ranked('/', period)
      expect(found, say).toEqual(counters.filter(({ name }) => name.startsWith('/')))

      // The same spans are compared of all counters together and of each.
      const { byHour, byDay, cutDays } = comparedSpans(period, now.getTime())!
      const isImported = ({ at, imported }: Count) => imported && cutDays.includes(at)
      const spans = ledger.some(isImported) ? byDay : byHour
      expect(shown.spans, say).toEqual(ledger.some(({ at }) => at < byHour.before.from - DAY_MS) ? spans : null)
      if (shown.spans === null) continue
      expect([shown.compared, shown.before], say).toEqual([countedIn(spans.current), countedIn(spans.before)])
      const both = [spans.current, spans.before]
      const rows = await readRows(db, counters, { sums: both.map(selectionOf), hoursFrom: 0 })
      expect(
        rows.map(({ sums }) => sums),
        say,
      ).toEqual(counters.map(({ name }) => both.map((span) => countedIn(span, ({ key }) => key === name))))
      // What rose most is one ranking, in which the hours where both spans meet count twice.
      const difference = differenceOf(selectionOf(spans.current), selectionOf(spans.before))
      const risen = await readRanking(db, { recordType: 1, name: '' }, difference, { limit: 10, hoursFrom: 0 })
      const rises = KEYS.map((name) => {
        const [now, before] = both.map((span) => countedIn(span, ({ key }) => key === name))
        return { name, count: now! - before! }
      })
      const byName = (rows: readonly { name: string; count: bigint }[]) =>
        Object.fromEntries(rows.filter(({ count }) => count > 0n).map(({ name, count }) => [name, count]))
      expect(byName(risen), say).toEqual(byName(rises))
      partsCompared += cutDays.length
      const counter = await addressOfKey(TYPE, '/')
      const ofCounter: HistoryReader = (selections, between) =>
        readCounterHistory(db, counter, { selections, hoursFrom: 0 }, between)
      const own = await readPeriods(ofCounter, [period], now.getTime())
      expect(countsIn(own.units), say).toEqual(countsOf(period, ({ key }) => key === counter.name))
    }
    expect(partsCompared).toBeGreaterThan(1)
  })
})
