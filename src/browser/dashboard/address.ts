import { type View, viewOf } from '../../periods.ts'

/** The Worker's base path; empty for the root. */
export function basePath(): string {
  return document.documentElement.dataset.base ?? ''
}

/** The view of the current address. */
export const readView = () => viewOf(location.search)

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
