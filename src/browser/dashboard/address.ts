/** The Worker's base path; empty for the root. */
export function basePath(): string {
  return document.documentElement.dataset.base ?? ''
}

const PERIODS = ['today', '7d', '30d', '12m', 'all', 'yesterday', 'month', 'last-month', '90d'] as const

/** What a page's address asks for. */
export interface View {
  period: (typeof PERIODS)[number] | 'custom'
  /** The first and last day of a custom period, such as 2026-11-20; otherwise empty. */
  from: string
  to: string
  /** The prefix of the keys in the list. */
  find: string
  /** The units of the chart, if they are not those of the period. */
  by: '' | 'day' | 'week' | 'month'
  /** Whether the chart shows the type's counts, those of the type that counts the same hits in another way, or both. */
  shown: '' | 'also' | 'both'
}

const DATE = /^(?:19(?:7[5-9]|[89]\d)|20\d\d)-\d\d-\d\d$/

/** Whether the Worker has a day: a date in the years 1975 to 2099. */
const isDay = (text: string) => DATE.test(text) && new Date(text).toJSON()?.startsWith(text)

/** The view of the current address, without invalid parts. */
export function readView(): View {
  const query = new URLSearchParams(location.search)
  const given = (name: string) => query.get(name) ?? ''
  const view = {
    find: given('find'),
    by: (['day', 'week', 'month'] as const).find((name) => name === given('by')) ?? '',
    shown: (['also', 'both'] as const).find((name) => name === given('show')) ?? '',
  } as const
  const [from, to] = [given('from'), given('to')]
  if (isDay(from) && isDay(to)) return { ...view, period: 'custom', from, to }
  return { ...view, period: PERIODS.find((name) => name === given('period')) ?? '30d', from: '', to: '' }
}

/** Puts a view into the address and its period into links. A new view becomes an entry of the browser's history. */
export function writeView(view: View): void {
  const url = new URL(location.href)
  putView(url, view)
  if (url.href !== location.href) history.pushState(null, '', url)
  keepPeriodInLinks(view)
}

export function keepPeriodInLinks({ period, from, to }: View): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keeps-period]')) {
    const url = new URL(link.href)
    putView(url, { period, from, to, find: url.searchParams.get('find') ?? '', by: '', shown: '' })
    link.href = url.href
  }
}

/** What a view's list depends on. */
export const listOf = ({ period, from, to, find }: View) => [period, from, to, find].join()

/** The parameters of a period, without defaults. */
export function periodParameters({ period, from, to }: Pick<View, 'period' | 'from' | 'to'>): Record<string, string> {
  if (period === 'custom') return { from, to }
  return period === '30d' ? {} : { period }
}

function putView(url: URL, view: View): void {
  for (const name of ['period', 'from', 'to', 'find', 'by', 'show']) url.searchParams.delete(name)
  for (const [name, value] of Object.entries(periodParameters(view))) url.searchParams.set(name, value)
  const { find, by, shown } = view
  for (const [name, value] of Object.entries({ find, by, show: shown })) {
    if (value !== '') url.searchParams.set(name, value)
  }
}
