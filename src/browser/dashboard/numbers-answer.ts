/** A whole number from the API; a string if a JavaScript number would round it. */
export type Count = number | string

/** A count, its compared part, and the same part of the period before. `null`: nothing can be compared. */
export interface Compared {
  count: Count
  compared: Count | null
  before: Count | null
  /** The end of the compared part, if the period is running. */
  until?: string | null
}

export type By = 'hour' | 'day' | 'week' | 'month'

export interface Point {
  start: string
  /** `null`: the unit has not begun. */
  count: Count | null
  /** The count of the same unit in the period before. */
  before?: Count | null
  also?: Count | null
}

export interface ChartNumbers extends Compared {
  by: By
  also?: Compared
  /** The days of the period and of the one before, such as 2026-11-20. */
  first: string
  last: string
  beforeFirst: string | null
  /** The index of the current point. */
  running: number | null
  points: Point[]
}

/** A setting or an import of a counter. */
export interface Adjustment {
  at: string
  kind: string
  count: Count
}

/** What every page with numbers shows. `also` is always what the type counted that counts the same hits in another way. */
export interface Numbers {
  timeZone: string
  figures: Record<'today' | '7d' | '30d' | '12m', Compared>
  total: Count
  chart: ChartNumbers
  also?: Pick<Numbers, 'figures' | 'total'>
  /** Only on the page of a counter. */
  adjustments?: Adjustment[]
}

export interface ListedCounter extends Compared {
  key: string
  /** The page with this key. */
  page?: string
  /** Whether it has a count, but had none from the first day of the period before until this one began. */
  isNew?: true
  also?: Count
  /** The counts of the period's own units; none if there would be more than a hundred, or more than a hundred rows. */
  points?: Count[]
}

/** The page of a type. */
export interface TypeNumbers extends Numbers {
  /** The prefix of the keys that figures and chart add up; `null`: all keys. */
  prefix: string | null
  list: {
    counters: ListedCounter[]
    more: boolean
    /** Whether the highest counts come first. If there are too many counters for that, they are in another order. */
    ranked: boolean
    /** The number of keys in the list's scope; `null`: more than 1,000, or a search. */
    of: number | null
  }
  /** Only on a public page: what the last check of all sums found. */
  checked?: string | null
}

/** The page of a counter. */
export interface CounterNumbers extends Numbers {
  /** The total as of the last roll-up, and the count since; `null`: too much to add up. */
  rolled: Count
  pending: Count | null
  rolledUpAt: string | null
  adjustments: Adjustment[]
}

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
const isKnown = /^(?:UTC|GMT|[A-Z]\w+\/[\w+/-]+)$/.test(timeZone) && timeZone !== 'Etc/Unknown'
/** The visitor's time zone. Browsers that hide it report a name such as Etc/Unknown, and use UTC. */
export const TIME_ZONE = isKnown ? timeZone : 'UTC'
