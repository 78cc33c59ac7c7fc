import { CHART_UNIT_NAMES, type ChartUnit, PERIOD_NAMES, type PeriodName } from '../../periods.ts'

/** The Worker's base path; empty for the root. */
export function basePath(): string {
  return document.documentElement.dataset.base ?? ''
}

/** What a page's address asks for: its parameters, empty if it has none. */
export interface View {
  period: PeriodName | 'custom'
  /** The first and last day of a custom period, such as 2026-11-20. */
  from: string
  to: string
  /** The prefix of the keys in the list. */
  find: string
  /** The units of the chart, if they are not those of the period. */
  by: '' | ChartUnit
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
  const among = <Value extends string>(name: string, ...values: readonly Value[]) =>
    values.find((value) => value === given(name))
  const [from, to] = [given('from'), given('to')]
  const isCustom = isDay(from) && isDay(to)
  return {
    period: isCustom ? 'custom' : (among('period', ...PERIOD_NAMES) ?? '30d'),
    from: isCustom ? from : '',
    to: isCustom ? to : '',
    find: given('find'),
    by: among('by', ...CHART_UNIT_NAMES) ?? '',
    show: among('show', 'also', 'both') ?? '',
  }
}

/** Puts a view into the address: as a new entry of the browser's history, or in the place of the present one. */
export function writeView({ find, by, show, ...period }: View, how: 'pushState' | 'replaceState'): void {
  const address = withParameters(location.href, { ...periodParameters(period), find, by, show })
  if (address !== location.href) history[how](null, '', address)
}

/** Puts the period of the view into links. */
export function keepPeriodInLinks(view: View): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keeps-period]')) {
    link.href = withParameters(link.href, periodParameters(view))
  }
}

/** The address of a page of the dashboard, in the period of this one. */
export function pageAddress(page: '' | 'counter', parameters: Record<string, string>): string {
  const address = `${location.origin}${basePath()}/${page}`
  return withParameters(address, { ...parameters, ...periodParameters(readView()) })
}

/** What a view's list depends on. */
export const listOf = ({ period, from, to, find }: View) => [period, from, to, find].join()

/** The parameters of a period, empty if they are not needed. */
function periodParameters({ period, from, to }: Pick<View, 'period' | 'from' | 'to'>) {
  return { period: period === 'custom' || period === '30d' ? '' : period, from, to }
}

/** An address with other parameters. Empty ones are left out. */
function withParameters(address: string, parameters: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.delete(name)
    if (value !== '') url.searchParams.append(name, value)
  }
  return url.href
}
