import { visibleKey } from '../../visible-key.ts'
import { basePath, periodParameters, readView } from './address.ts'
import { byId, element, keyText } from './elements.ts'
import type { Count } from './exact-json.ts'
import { showCount, showGrowth, showShare } from './format-counts.ts'
import type { ListedCounter } from './numbers.ts'

/** The list of counters. A row that stays in it stays the same element, with its focus. */
export class TopList {
  readonly #type: string | null
  readonly #body = byId('top')
  readonly #rows = new Map<string, HTMLTableRowElement>()

  /** @param type `null`: keys link to the counted pages, not to the dashboard */
  constructor(type: string | null) {
    this.#type = type
  }

  get length(): number {
    return this.#body.childElementCount
  }

  /**
   * Shows counters, unless text in the list is selected and nobody asked for another list.
   * @param whole the count of which the shares are
   */
  show(counters: readonly ListedCounter[], whole: Count, asked: boolean): void {
    // Not for an empty list: the browser must lay out the page to know the selection.
    const selection = this.#rows.size === 0 ? null : getSelection()
    if (!asked && selection?.isCollapsed === false && selection.containsNode(this.#body, true)) return
    const most = counters.reduce((most, { count }) => (BigInt(count) > most ? BigInt(count) : most), 1n)
    const focused = document.activeElement
    const kept = new Set(counters.map(({ key }) => key))
    for (const [key, row] of this.#rows) {
      if (kept.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    counters.forEach((counter, index) => {
      const row = this.#rows.get(counter.key) ?? this.#rowOf(counter)
      this.#rows.set(counter.key, row)
      fill(row, counter, most, whole)
      if (this.#body.children[index] !== row) this.#body.insertBefore(row, this.#body.children[index] ?? null)
    })
    // Moving an element takes the focus from it.
    if (focused instanceof HTMLElement && this.#body.contains(focused) && focused !== document.activeElement) {
      focused.focus({ preventScroll: true })
    }
  }

  focus(index: number): void {
    this.#body.children[index]?.querySelector('a')?.focus()
  }

  #rowOf({ key, page }: ListedCounter): HTMLTableRowElement {
    const type = this.#type
    const name = element('th', { scope: 'row' }, type === null ? pageLink(key, page) : counterLink(type, key))
    if (page !== undefined && type !== null) {
      const leads = element('a', { class: 'out', href: page, rel: 'noreferrer', title: 'Open this page' }, '↗')
      leads.setAttribute('aria-label', `Open the page ${visibleKey(key)}`)
      name.append(' ', leads)
    }
    const cells = ['count', 'share', 'growth'].map((kind) => element('td', { class: `number ${kind}` }))
    return element('tr', {}, name, ...cells)
  }
}

function counterLink(type: string, key: string): HTMLElement {
  const query = new URLSearchParams({ type, key, ...periodParameters(readView()) })
  return element('a', { href: `${basePath()}/counter?${query}`, 'data-keeps-period': '' }, keyText(key))
}

function pageLink(key: string, page: string | undefined): HTMLElement {
  return page === undefined
    ? element('span', {}, keyText(key))
    : element('a', { href: page, rel: 'noreferrer' }, keyText(key))
}

function fill(row: HTMLTableRowElement, counter: ListedCounter, most: bigint, whole: Count): void {
  const { count } = counter
  const texts = [showCount(count), showShare(count, whole), showGrowth(counter)]
  texts.forEach((text, index) => {
    const cell = row.children[index + 1]!
    if (cell.textContent !== text) cell.textContent = text
  })
  const part = BigInt(count) <= 0n ? 0 : Number((BigInt(count) * 1_000n) / most) / 10
  row.style.setProperty('--part', `${part}%`)
}
