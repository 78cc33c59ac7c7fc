import { beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { countIn, findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  download: {
    record_type: 1,
    unit: 'downloads',
    unit_one: 'download',
    keys: 'files',
    prefixes: ['app-'],
    public: true,
    public_page: true,
    also: 'visitor',
  },
  visitor: { record_type: 2, dedupe_seconds: 60, title: 'Visitors', unit: 'visitors' },
}
const DAYS = 45
/** The counts of a day, from the largest key. The rest is of the last two, one of which was corrected. */
const FILES = {
  'app-3.tgz': 40,
  'app-2.tgz': 21,
  'map.txt': 13,
  'list <1>.csv': 8,
  'app-1.tgz': 5,
  'old.txt': 2,
  'gone.txt': -1,
}
const KEYS = Object.keys(FILES)
const LARGEST = KEYS.slice(0, 5)

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })
let headers: Record<string, string>
beforeAll(async () => {
  const today = Date.now()
  const dayBack = (days: number) => new Date(today - days * 86_400_000).toISOString().slice(0, 10)
  for (const [key, daily] of Object.entries(FILES)) {
    const days = Array.from({ length: DAYS }, (_, back) => ({
      type: 'download',
      key,
      day: dayBack(back + 1),
      // Every key has its own best day.
      count: daily * (back % KEYS.length === KEYS.indexOf(key) ? 3 : 1),
    }))
    await worker.bringAll(days)
  }
  // What is pending belongs to today.
  await worker.add('download', { 'app-3.tgz': 4, 'map.txt': 1, 'old.txt': 3 })
  await worker.add('visitor', { 'map.txt': 1 })
  headers = { Cookie: await sessionCookie(worker) }
})

const open = async (query: string, path = '/?type=download') =>
  (await worker.fetch(`${path}&${query}`, { headers })).text()
const numbers = (text: string | undefined) => countIn(text ?? '')!
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)
const texts = async (page: string, selector: string) => (await findAll(page, selector)).map(({ text }) => text)

describe('The chart by key', () => {
  it.each(['7d', '30d', '30d&by=week', '90d', '12m', 'all', 'today'])(
    'has parts that add up to the total of each unit, in the period %s',
    async (period) => {
      for (const tz of ['UTC', 'America/New_York', 'Asia/Kathmandu']) {
        const page = await open(`show=keys&period=${period}&tz=${tz}`)
        const { units, sum: shown } = await numbersOn(page)
        const parts = (await texts(page, '.legend li')).filter((text) => text !== '')
        expect(parts.at(-1)).toBe(units.length > 0 ? 'Other files' : undefined)
        for (const unit of units) {
          expect(sum(parts.map((name) => numbers(unit[name]))), `${period} ${tz}`).toBe(numbers(unit.Downloads))
        }
        expect(sum(units.map((unit) => numbers(unit.Downloads)))).toBe(numbers(shown))
      }
    },
  )

  it('has the five largest keys in the order of their counts, from the foot of the stack on, each as the API has it', async () => {
    const page = await open('show=keys&period=30d')
    const { units, list } = await numbersOn(page)
    const names = [...LARGEST, 'Other files']
    expect(await texts(page, '.legend li')).toEqual(names)
    expect((await texts(page, '#table thead th')).slice(2, 8)).toEqual(names)
    expect(list.map(({ key }) => key).slice(0, 5)).toEqual(LARGEST)
    // The chart, and then its legend.
    const colors = [...page.matchAll(/<path [^>]*fill="(light-dark[^"]+)"/g)].map(([, color]) => color)
    expect([colors.slice(0, 6), new Set(colors).size, colors.length]).toEqual([colors.slice(6), 6, 12])
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10)
    for (const key of LARGEST) {
      const path = `/v1/counters/download/${encodeURIComponent(key)}/history?by=day&from=${from}&tz=UTC`
      const { points } = await (await worker.api('GET', path)).json<{ points: { count: number }[] }>()
      expect(units.map((unit) => numbers(unit[key]))).toEqual(points.map(({ count }) => count))
    }
    const csv = await open('show=keys&period=30d&csv=chart')
    expect(csv).toContain('"app-3.tgz","app-2.tgz","map.txt","list <1>.csv","app-1.tgz","other keys"')
  })

  it('is of a prefix alone if the page is, and has no others if these are all', async () => {
    const page = await open('show=keys&find=app-')
    expect(await texts(page, '.legend li')).toEqual(['app-3.tgz', 'app-2.tgz', 'app-1.tgz'])
    for (const unit of (await numbersOn(page)).units) {
      const parts = ['app-3.tgz', 'app-2.tgz', 'app-1.tgz'].map((name) => numbers(unit[name]))
      expect(sum(parts)).toBe(numbers(unit.Downloads))
    }
  })

  it('shows a negative remainder only if the other keys were corrected by that much', async () => {
    await worker.add('download', { 'gone.txt': -9 })
    const { units } = await numbersOn(await open('show=keys&period=7d'))
    expect([numbers(units.at(-1)!['Other files']), numbers(units.at(-1)!.Downloads)]).toEqual([-6, -1])
    await worker.add('download', { 'gone.txt': 9 })
  })

  it('takes a few statements more, however many keys there are', async () => {
    const count = async (query: string) => (await db.recording(async () => void (await open(query)))).length
    // The largest keys are found by a ranking, whose rows are counted range by range.
    expect((await count('show=keys')) - (await count(''))).toBeLessThanOrEqual(3 + db.ranges)
  })

  it('is no choice on the page of a counter, which then has its total', async () => {
    const page = await open('show=keys', '/counter?type=download&key=map.txt')
    expect(await texts(page, '.card-head [aria-label="Counts in the chart"] a')).toEqual([
      'Total',
      'Cumulative',
      'Visitors',
      'Both',
    ])
    expect(await texts(page, '.card-head [aria-label="Counts in the chart"] [aria-current]')).toEqual(['Total'])
  })
})

it('The cumulative chart adds up from the first unit, in its table too', async () => {
  for (const path of ['/?type=download', '/counter?type=download&key=map.txt']) {
    const { units, sum: shown } = await numbersOn(await open('show=cumulative', path))
    let all = 0
    for (const { Downloads, Cumulative } of units) {
      all += numbers(Downloads)
      expect(numbers(Cumulative)).toBe(all)
    }
    expect(all).toBe(numbers(shown))
  }
})

it('Each choice of the chart is a link, and what has no counts beside it shows the total', async () => {
  const page = await open('period=7d')
  const links = await findAll(page, '.card-head [aria-label="Counts in the chart"] a')
  expect(links.map(({ text }) => text)).toEqual(['Total', 'By key', 'Cumulative', 'By age', 'Visitors', 'Both'])
  for (const { attributes, text } of links) {
    const next = await (await worker.fetch(attributes.href!, { headers })).text()
    expect(await texts(next, '.card-head [aria-label="Counts in the chart"] [aria-current]')).toEqual([text])
  }
  const alone = await (await worker.fetch('/?type=visitor&show=both', { headers })).text()
  expect(await texts(alone, '.card-head [aria-label="Counts in the chart"] [aria-current]')).toEqual(['Total'])
})

describe('Next to a period', () => {
  it('is the average of its whole days, and its best unit by its name', async () => {
    const pace = async (query: string, path?: string) => (await texts(await open(query, path), '#pace'))[0]
    const { units } = await numbersOn(await open('period=30d'))
    const days = units.map(({ Day, Downloads }) => [Day!, numbers(Downloads)] as const)
    const average = Math.round(sum(days.slice(0, -1).map(([, count]) => count)) / 29)
    const [name, most] = days.reduce((best, day) => (day[1] > best[1] ? day : best))
    expect(await pace('period=30d')).toBe(`${average} a day · best ${most} on ${name}`)
    expect(await pace('period=30d&by=week')).toMatch(new RegExp(`^${average} a day · best week [\\d,]+ in .* – .*$`))
    expect(await pace('period=all')).toMatch(/^best month [\d,]+ in \w+( \d+)?$/)
    expect(await pace('period=today')).toMatch(/^best hour 8 on .*, \d\d:00$/)
    expect(await pace('period=30d', '/counter?type=download&key=map.txt')).toMatch(/^\d+ a day · best 39 on/)
  })

  it('each row of the list has its share of the total, and its average', async () => {
    const page = await open('period=30d')
    const { sum: shown, list } = await numbersOn(page)
    const cells = (await findAll(page, '#top .wide')).map(({ text }) => text)
    for (const [row, { key, count }] of list.entries()) {
      if (count! <= 0) continue
      const share = Math.round((count! / numbers(shown)) * 100)
      const pending = { 'app-3.tgz': 4, 'map.txt': 1, 'old.txt': 3 }[key] ?? 0
      const average = (count! - pending) / 29
      expect([cells[2 * row], Number(cells[2 * row + 1])], key).toEqual([
        `${share}%`,
        average < 10 ? Math.round(average * 10) / 10 : Math.round(average),
      ])
    }
    expect(await texts(await open('period=today'), '.ranking thead th')).not.toContain('Per day')
    expect(await texts(page, '#list-title')).toEqual(['Files'])
  })
})
