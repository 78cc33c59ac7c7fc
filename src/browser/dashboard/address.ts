/** The Worker's base path; empty for the root. */
export function basePath(): string {
  return document.documentElement.dataset.base ?? ''
}

const PERIODS = ['today', '7d', '30d', '12m', 'all', 'yesterday', 'month', 'last-month', '90d'] as const

/** What a page's address asks for: its parameters, empty if it has none. */
export interface View {
  period: (typeof PERIODS)[number] | 'custom'
  /** The first and last day of a custom period, such as 2026-11-20. */
  from: string
  to: string
  /** The prefix of the keys in the list. */
  find: string
  /** The units of the chart, if they are not those of the period. */
  by: '' | 'day' | 'week' | 'month'
  /** Whether the chart shows the type's counts, those of the type that counts the same hits in another way, or both. */
  show: '' | 'also' | 'both'
}

const DATE = /^(?:19(?:7[5-9]|[89]\d)|20\d\d)-\d\d-\d\d$/

/** Whether the Worker has a day: a date in the years 1975 to 2099. */
const isDay = (text: string) => DATE.test(text) && new Date(text).toJSON()?.startsWith(text)

/** The view of the current address, without invalid parts. */
export function readView(): View {
  const query = new URLSearchParams(location.search)
  const given = (name: string) => query.get(name) ?? ''
  const among = <Value extends string>(values: readonly Value[], name: string) =>
    values.find((value) => value === given(name))
  const [from, to] = [given('from'), given('to')]
  return {
    ...(isDay(from) && isDay(to)
      ? { period: 'custom', from, to }
      : { period: among(PERIODS, 'period') ?? '30d', from: '', to: '' }),
    find: given('find'),
    by: among(['day', 'week', 'month'], 'by') ?? '',
    show: among(['also', 'both'], 'show') ?? '',
  }
}

/** Puts a view into the address and its period into links. A new view becomes an entry of the browser's history. */
export function writeView(view: View): void {
  const url = new URL(location.href)
  putView(url, view)
  if (url.href !== location.href) history.pushState(null, '', url)
  keepPeriodInLinks(view)
}

export function keepPeriodInLinks(view: View): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keeps-period]')) {
    const url = new URL(link.href)
    putView(url, { ...view, find: url.searchParams.get('find') ?? '', by: '', show: '' })
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

function putView(url: URL, { find, by, show, ...period }: View): void {
  for (const name of ['period', 'from', 'to', 'find', 'by', 'show']) url.searchParams.delete(name)
  for (const [name, value] of Object.entries({ ...periodParameters(period), find, by, show })) {
    if (value !== '') url.searchParams.set(name, value)
  }
}
