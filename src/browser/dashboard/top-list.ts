import { visibleKey } from '../../visible-key.ts'
import { basePath, periodParameters, readView } from './address.ts'
import { type Count, directionOf, showCount, showGrowth } from './counts.ts'
import { byId, element, keyText, shape } from './elements.ts'
import type { ListedCounter } from './numbers.ts'

/** The height of a small chart, and the part of its place that a bar fills. */
const HEIGHT = 20
const BAR_PART = 0.7

/** The list of counters. A row that stays in it stays the same element, with its focus. */
export class TopList {
  readonly #type: string | null
  readonly #body = byId('top')
  #rows: ReadonlyMap<string, HTMLTableRowElement> = new Map()

  /** @param type `null`: keys link to the counted pages, not to the dashboard */
  constructor(type: string | null) {
    this.#type = type
  }

  get length(): number {
    return this.#body.childElementCount
  }

  /** Shows counters, unless text in the list is selected and nobody asked for another list. */
  show(counters: readonly ListedCounter[], asked: boolean): void {
    // Not for an empty list: the browser must lay out the page to know the selection.
    const selection = this.#rows.size === 0 ? null : getSelection()
    if (!asked && selection?.isCollapsed === false && selection.containsNode(this.#body, true)) return
    const most = counters.reduce((most, { count }) => (BigInt(count) > most ? BigInt(count) : most), 1n)
    const focused = document.activeElement
    const rows = new Map(counters.map((counter) => [counter.key, this.#rows.get(counter.key) ?? this.#rowOf(counter)]))
    for (const [key, row] of this.#rows) if (!rows.has(key)) row.remove()
    this.#rows = rows
    counters.forEach((counter, index) => {
      const row = rows.get(counter.key)!
      fill(row, counter, most)
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
    const name = element('th', { scope: 'row' }, this.#linkOf(key, page))
    if (page !== undefined && this.#type !== null) {
      const leads = element('a', { class: 'out', href: page, rel: 'noreferrer', title: 'Open this page' }, '↗')
      leads.setAttribute('aria-label', `Open the page ${visibleKey(key)}`)
      name.append(' ', leads)
    }
    // Pages without visitors have no column for them.
    const kinds = ['small-chart', 'count', ...(document.querySelector('.ranking .also') ? ['also'] : []), 'growth']
    return element('tr', {}, name, ...kinds.map((kind) => element('td', { class: `number ${kind}` })))
  }

  #linkOf(key: string, page: string | undefined): HTMLElement {
    if (this.#type !== null) {
      const query = new URLSearchParams({ type: this.#type, key, ...periodParameters(readView()) })
      const href = `${basePath()}/counter?${query}`
      return element('a', { class: 'whole', href, 'data-keeps-period': '' }, keyText(key))
    }
    if (page === undefined) return element('span', {}, keyText(key))
    return element('a', { class: 'whole', href: page, rel: 'noreferrer' }, keyText(key))
  }
}

function fill(row: HTMLTableRowElement, counter: ListedCounter, most: bigint): void {
  const { count, also, points = [] } = counter
  const change = counter.isNew ? 'new' : showGrowth(counter)
  const texts = { count: showCount(count), also: also === undefined ? '' : showCount(also), growth: change }
  for (const [kind, text] of Object.entries(texts)) {
    const cell = row.querySelector(`.${kind}`)
    if (cell !== null && cell.textContent !== text) cell.textContent = text
  }
  row.lastElementChild!.className = `number growth ${directionOf(change)}`
  drawSmall(row.querySelector('.small-chart')!, points)
  const part = BigInt(count) <= 0n ? 0 : Number((BigInt(count) * 1_000n) / most) / 10
  row.style.setProperty('--part', `${part}%`)
}

/** Draws the counts of a period's units as bars, with the highest one as high as the chart. */
function drawSmall(cell: Element, points: readonly Count[]): void {
  const values = points.map((count) => Math.max(0, Number(count)))
  const most = Math.max(1, ...values)
  const bar = (value: number, index: number) =>
    value === 0 ? '' : `M${index} ${HEIGHT}v${-Math.max(1, Math.round((value * HEIGHT) / most))}h${BAR_PART}V${HEIGHT}z`
  const d = values.map(bar).join('')
  if (cell.querySelector('path')?.getAttribute('d') === d) return
  const size = { viewBox: `0 0 ${Math.max(1, points.length)} ${HEIGHT}`, preserveAspectRatio: 'none' }
  cell.replaceChildren(shape('svg', { ...size, 'aria-hidden': 'true' }, shape('path', { d })))
}
