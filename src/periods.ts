/** The periods of pages that have a tile, with its label. */
export const TILES = { today: 'Today', '7d': '7 days', '30d': '30 days', '12m': '12 months', all: 'All time' } as const

export const OTHER_PERIODS = {
  yesterday: 'Yesterday',
  month: 'This month',
  'last-month': 'Last month',
  '90d': '90 days',
} as const

export type PeriodName = keyof typeof TILES | keyof typeof OTHER_PERIODS

export const PERIOD_NAMES = Object.keys({ ...TILES, ...OTHER_PERIODS }) as PeriodName[]

/** The units of a chart that can be chosen. A short period has hours instead. */
export const CHART_UNITS = { day: 'Days', week: 'Weeks', month: 'Months' } as const
export type ChartUnit = keyof typeof CHART_UNITS

/** What a page's address asks for: its parameters, empty if it has none. */
export interface View {
  period: PeriodName | 'custom'
  /** The first and last day of a custom period, such as 2026-11-20. */
  from: string
  to: string
  find: string
  /** The units of the chart, if they are not those of the period. */
  by: '' | ChartUnit
  /** How the list is sorted, if not by its counts: by those of the other type, or by their change. */
  sort: '' | 'also' | 'change'
  /** The page of the list, from 1; 0: only its first rows. */
  page: number
  /** What the chart shows: the counts of the type, of the other type, or of both; or its counts by key, added up, or by the keys' age. */
  show: '' | 'also' | 'both' | 'keys' | 'cumulative' | 'age'
  /** What the page offers to share, if anything: a total, or the counter of a key. */
  share: '' | 'total' | 'key'
  /** The prefix of the total, which is empty for everything, or the key. */
  of: string
}

const DATE = /^(?:19(?:7[5-9]|[89]\d)|20\d\d)-\d\d-\d\d$/

/** Whether the Worker has a day: a date in the years 1975 to 2099. */
const isDay = (text: string) => DATE.test(text) && new Date(text).toJSON()?.startsWith(text)

/** The view of an address, without invalid parts. @param search the query of the address */
export function viewOf(search: string): View {
  const query = new URLSearchParams(search)
  const given = (name: string) => query.get(name) ?? ''
  const among = <Value extends string>(name: string, ...values: readonly Value[]) =>
    values.find((value) => value === given(name))
  const [from, to] = [given('from'), given('to')].sort() as [string, string]
  const isCustom = isDay(from) && isDay(to)
  return {
    period: isCustom ? 'custom' : (among('period', ...PERIOD_NAMES) ?? '30d'),
    from: isCustom ? from : '',
    to: isCustom ? to : '',
    find: given('find'),
    by: among('by', ...(Object.keys(CHART_UNITS) as ChartUnit[])) ?? '',
    sort: among('sort', 'also', 'change') ?? '',
    page: /^[1-9]$/.test(given('page')) ? Number(given('page')) : 0,
    show: among('show', 'also', 'both', 'keys', 'cumulative', 'age') ?? '',
    share: among('share', 'total', 'key') ?? '',
    of: given('of'),
  }
}

/** The query of an address that asks for a view: `viewOf` reads it. */
export function viewQuery({ period, page, ...given }: View): Record<string, string> {
  const usual = period === 'custom' || period === '30d'
  const all = { period: usual ? '' : period, ...given, page: page === 0 ? '' : String(page) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}
