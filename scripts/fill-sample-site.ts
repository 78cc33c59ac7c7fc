import { DAY_MS, dayText, HOUR_MS, PERIODS, startOf, timeText } from '../src/counters/calendar.ts'
import { counterValues } from '../src/counters/counters-sql.ts'
import { hash64 } from '../src/counters/ids.ts'
import { bucketOf } from '../src/database/buckets.ts'
import { openDatabase } from '../src/database/database.ts'

/** 13 months. */
const DAYS = 396
/** The hours of older days have expired: the default of `HISTORY.hour_days`. */
const HOUR_DAYS = 90
const POSTS = 200
const GUIDES = 80
const PAGES = ['/', '/downloads', '/pricing', '/features', '/about', '/changelog', '/contact', '/faq', '/team', '/jobs']
const SHARES = [760, 255, 185, 96, 48, 30, 20, 16, 8, 3]
const FILES = ['app-1.2.0.tgz', 'app-1.1.4.tgz', 'app-1.0.0.tgz', 'map.txt', 'list.csv']
const WORDS = ['howto', 'mysql', 'counters', 'privacy', 'log', 'edge', 'cache', 'slots', 'release', 'badge']
const MORE_WORDS = ['tail', 'rollup', 'postmortem', 'shard', 'index', 'budget', 'limits', 'diary', 'zones', 'queue']
const ROWS = 4_000

/** The settings of the site's Worker. */
export const SAMPLE_COUNTERS = {
  page_view: {
    record_type: 1,
    title: 'Page views',
    unit: 'views',
    unit_one: 'view',
    keys: 'pages',
    url: 'https://example.com',
    public: true,
    public_page: true,
    allowed_origins: ['*'],
    prefixes: ['/blog/', '/docs/'],
    also: 'visitor',
  },
  download: {
    record_type: 2,
    title: 'Downloads',
    unit: 'downloads',
    unit_one: 'download',
    keys: 'files',
    public: true,
    redirect_to: '/files/',
  },
  visitor: {
    record_type: 3,
    title: 'Visitors',
    unit: 'visitors',
    unit_one: 'visitor',
    keys: 'pages',
    prefixes: ['/blog/', '/docs/'],
    dedupe_seconds: 86_400,
  },
}

interface Sample {
  type: number
  key: string
  /** The count of a day, before chance and weekends. */
  daily(daysBack: number): number
}

/**
 * Fills a database that has the tables and no counts (of one range) with 13 months of a site: 10 main pages, 80 below `/docs/`, 210
 * below `/blog/` with a burst when they are published, their visitors, and 5 files. Weekends (UTC) are quiet, two articles have a
 * very large burst, 29 and 52 days ago. Days older than 90 have no hours, as after expiry. All sums agree (`verify` finds nothing).
 *
 * The counts depend on `now` alone: the same day gives the same site, up to its last full hour. Tests in Chromium take a
 * `sampleCounter` of it.
 *
 * Everything counts as rolled up; `counter.rollUp(new Date())` afterwards makes the status well.
 */
export async function fillSampleSite(databaseUrl: string, now: Date): Promise<void> {
  const db = openDatabase({ url: databaseUrl, deadlineMs: 120_000 })
  const insert = async (into: string, rows: readonly string[]) => {
    for (let i = 0; i < rows.length; i += ROWS) {
      await db.execute(`INSERT INTO ${into} VALUES ${rows.slice(i, i + ROWS).join()}`)
    }
  }
  const [counters, days, hours]: string[][] = [[], [], []]
  const last = startOf('day', now).getTime()
  for (const { type, key, daily } of sampleCounters()) {
    const id = await hash64(key)
    const add = (type: number, part: (count: number) => number) => {
      const counter = counterValues({ recordType: type, recordId: id })
      let total = 0
      for (let back = DAYS - 1; back >= 0; back--) {
        const day = last - back * DAY_MS
        let count = 0
        for (const [hour, views] of hoursOf(key, back, daily(back) * weekday(day))) {
          const at = day + hour * HOUR_MS
          if (at + HOUR_MS > now.getTime() || views === 0) continue
          count += part(views)
          if (back <= HOUR_DAYS) hours!.push(`(${counter},'${timeText(at)}',${part(views)})`)
        }
        if (count > 0) days!.push(`(${counter},${PERIODS.day},'${dayText(day)}',${count})`)
        total += count
      }
      if (total === 0) return
      counters!.push(`(${counter},'${key}',${total},1,'${timeText(now)}')`)
    }
    add(type, (views) => views)
    if (type === SAMPLE_COUNTERS.page_view.record_type) {
      add(SAMPLE_COUNTERS.visitor.record_type, (views) => Math.max(1, Math.round(views * 0.57)))
    }
  }
  await insert('counters (record_type, record_id, bucket, name, count, version, rolled_up_at)', counters!)
  await insert('counter_periods', days!)
  await insert('counter_history', hours!)
  await db.execute(
    `INSERT INTO counter_periods
     SELECT record_type, record_id, bucket, ${PERIODS.month}, DATE_SUB(period_start, INTERVAL DAYOFMONTH(period_start) - 1 DAY) AS start, SUM(count)
     FROM counter_periods WHERE period = ${PERIODS.day} GROUP BY record_type, record_id, bucket, start`,
  )
  for (const [period, table] of [
    ['period', 'counter_periods'],
    [PERIODS.hour, 'counter_history'],
  ] as const) {
    await db.execute(
      `INSERT INTO type_history SELECT record_type, ${period} AS kind, period_start, 0, ${bucketOf(0n)}, SUM(count)
       FROM ${table} GROUP BY record_type, kind, period_start`,
    )
  }
}

function sampleCounters(): Sample[] {
  const growing = (share: number) => (back: number) => share * (1.35 - (0.7 * back) / DAYS)
  const main = PAGES.map((key, i): Sample => ({ type: 1, key, daily: growing(SHARES[i]!) }))
  const guides = Array.from({ length: GUIDES }, (_, i): Sample => {
    const [topic, of] = [WORDS[i % 10]!, MORE_WORDS[Math.floor(i / 10)]!]
    return { type: 1, key: `/docs/${topic}/${of}`, daily: growing(130 / (i + 2) ** 1.05) }
  })
  const posts = Array.from({ length: POSTS + 10 }, (_, i) => postOf(i))
  const files = FILES.map((key, i): Sample => {
    const published = [70, 190, 500, 500, 500][i]!
    const daily = (back: number) => (back > published ? 0 : [60, 9, 4, 3, 1][i]! + 300 * Math.exp(back - published))
    return { type: 2, key, daily }
  })
  return [...main, ...guides, ...posts, ...files]
}

/** An article: a burst when it is published, and few views later. */
function postOf(nth: number): Sample {
  const published = [52, 29][nth] ?? Math.floor(((nth - 2) * (DAYS - 3)) / (POSTS + 8)) + 1
  const burst = [8_300, 7_900][nth] ?? Math.min(2_600, 110 / (0.04 + chance(nth, 1)) ** 1.1)
  const [word, other] = [WORDS[Math.floor(chance(nth, 2) * 10)]!, MORE_WORDS[Math.floor(chance(nth, 3) * 10)]!]
  return {
    type: 1,
    key: `/blog/${published > 320 ? 2025 : 2026}/${word}-${other}-${POSTS + 10 - nth}`,
    daily: (back) => {
      const age = published - back
      return age < 0 ? 0 : burst * Math.exp(-age / 1.3) + (0.08 + burst / 500) / (1 + age / 60)
    },
  }
}

/** Spreads the count of a day over its hours: more by day, and few hours of a page with few views. */
function hoursOf(key: string, back: number, expected: number): Map<number, number> {
  const seed = [...key].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 7)
  const wanted = expected * (0.85 + 0.3 * chance(seed, back))
  const count = Math.floor(wanted) + (chance(seed, back + 1_000) < wanted % 1 ? 1 : 0)
  const parts = Math.min(96, Math.ceil(count / 4))
  const hours = new Map<number, number>()
  for (let i = 0; i < parts; i++) {
    const hour = hourAt((i + chance(seed, back + 2_000)) / parts)
    const views = Math.floor((count * (i + 1)) / parts) - Math.floor((count * i) / parts)
    hours.set(hour, (hours.get(hour) ?? 0) + views)
  }
  return hours
}

/** The hour up to which a part of a day's views has been counted. */
function hourAt(part: number): number {
  let [hour, sum] = [0, DAYLIGHT[0]!]
  while (hour < 23 && sum < part * DAYLIGHT_SUM) sum += DAYLIGHT[++hour]!
  return hour
}

const DAYLIGHT = Array.from({ length: 24 }, (_, hour) => 0.35 + Math.max(0, Math.sin(((hour - 5) / 18) * Math.PI)))
const DAYLIGHT_SUM = DAYLIGHT.reduce((sum, part) => sum + part)

/** A factor that is lower at weekends. */
const weekday = (day: number) => (new Date(day).getUTCDay() % 6 === 0 ? 0.52 : 1)

/** A number from 0 to 1 that looks random and is always the same. */
function chance(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}
