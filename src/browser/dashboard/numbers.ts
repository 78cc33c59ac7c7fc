import { basePath, type View } from './address.ts'
import { ask } from './api.ts'
import { type Count, parseExactly } from './exact-json.ts'

/** A count, and what of it is compared with the same part of the period before. `null`: nothing can be compared. */
export interface Compared {
  count: Count
  compared: Count | null
  before: Count | null
}

/** What is compared of a period. `until`: up to where, if the period is running. */
export interface ComparedPeriod extends Compared {
  until: string | null
}

/** The length of a chart's units. */
export type By = 'hour' | 'day' | 'month'

/** A unit of a chart. */
export interface Point {
  start: string
  count: Count
  /** The count of the same unit of the period before. */
  before?: Count | null
  imported?: true
}

/** The chart of a period. */
export interface ChartNumbers extends ComparedPeriod {
  by: By
  /** The days of the period and of the one before: dates such as 2026-11-20. */
  first: string
  last: string
  beforeFirst: string | null
  beforeLast: string | null
  /** The index of the point that is not over. */
  running: number | null
  points: Point[]
}

/** A setting or an import of a counter. */
export interface Adjustment {
  at: string
  kind: string
  count: Count
}

/** What every page with numbers shows. */
export interface Numbers {
  timeZone: string
  figures: { today: ComparedPeriod; '7d': ComparedPeriod; '30d': ComparedPeriod }
  total: Count
  chart: ChartNumbers
  /** The type that counts the same hits in another way. */
  also?: Pick<Numbers, 'figures' | 'total'>
  /** On the page of a counter. */
  adjustments?: Adjustment[]
}

/** A row of the list of counters. */
export interface ListedCounter extends Compared {
  key: string
  /** The page that the key stands for. */
  page?: string
}

/** What the page of a type shows. */
export interface TypeNumbers extends Numbers {
  /** The beginning of the keys that figures and chart add up; `null`: all of the type. */
  prefix: string | null
  list: { counters: ListedCounter[]; more: boolean; certain: boolean }
}

/** What the page of a counter shows. */
export interface CounterNumbers extends Numbers {
  /** The total as of the last roll-up, and what is not in it yet. */
  rolled: Count
  pending: Count
  rolledUpAt: string | null
  adjustments: Adjustment[]
}

/** The visitor's time zone. In all charts, days begin at its midnight. */
export const TIME_ZONE = zone()

function zone(): string {
  const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
  // Browsers that hide the time zone report a name such as Etc/Unknown, and use UTC.
  return /^(?:UTC|GMT|[A-Z]\w+\/[\w+/-]+)$/.test(name) && name !== 'Etc/Unknown' ? name : 'UTC'
}

/** The numbers that the page came with, unless they were taken already. They may be those of another view. */
export function takeIncluded(query: string): Numbers | null {
  const holder = document.getElementById('numbers')
  if (holder === null) return null
  holder.remove()
  return holder.dataset.query === query ? (parseExactly(holder.textContent ?? '') as Numbers) : null
}

/** The query by which a page asks for its numbers: about a type, or about a counter if there is a key. */
export function numbersQuery(
  about: { type: string; key?: string },
  { period, from, to, find }: View,
  rows: number,
): string {
  return new URLSearchParams({
    ...about,
    period,
    tz: TIME_ZONE,
    ...(period === 'custom' && { from, to }),
    ...(find !== '' && { find }),
    ...(rows !== 10 && { rows: String(rows) }),
  }).toString()
}

/** @throws {ApiError} */
export function askNumbers(query: string): Promise<Numbers> {
  // A page for everybody names its own source.
  const source = document.querySelector('main')?.dataset.numbers ?? `${basePath()}/numbers`
  return ask<Numbers>('GET', `${source}?${query}`)
}
