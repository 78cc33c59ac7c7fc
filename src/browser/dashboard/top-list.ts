import { pageAddress } from './address.ts'
import { byId, element, keyText, shape } from './elements.ts'
import { directionOf, showCount, showGrowth } from './formats.ts'
import type { Count, ListedCounter } from './numbers-answer.ts'

/** The height of a small chart, and the part of its place that a bar fills. */
const HEIGHT = 20
const BAR_PART = 0.7

/**
 * Starts the list of counters, whose rows keep their focus. Without a type, keys link to the counted pages.
 * @returns shows counters, unless text in the list is selected and nobody asked for another list
 */
export function startTopList(type: string | null): (counters: readonly ListedCounter[], asked: boolean) => void {
  const body = byId('top')
  let rows: ReadonlyMap<string, HTMLTableRowElement> = new Map()
  return (counters, asked) => {
    // Not for an empty list: the browser must lay out the page to know the selection.
    const selection = rows.size === 0 ? null : getSelection()
    if (!asked && selection?.isCollapsed === false && selection.containsNode(body, true)) return
    const most = counters.reduce((most, { count }) => (BigInt(count) > most ? BigInt(count) : most), 1n)
    const focused = document.activeElement
    const next = new Map(counters.map((counter) => [counter.key, rows.get(counter.key) ?? rowOf(type, counter)]))
    for (const [key, row] of rows) if (!next.has(key)) row.remove()
    rows = next
    counters.forEach((counter, index) => {
      const row = next.get(counter.key)!
      fill(row, counter, most)
      if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null)
    })
    // Moving an element takes the focus from it.
    if (focused instanceof HTMLElement && body.contains(focused)) focused.focus({ preventScroll: true })
  }
}

function rowOf(type: string | null, { key, page }: ListedCounter): HTMLTableRowElement {
  // Pages without visitors have no column for them.
  const kinds = ['small-chart', 'count', ...(document.querySelector('.ranking .also') ? ['also'] : []), 'growth']
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, linkOf(type, key, page)),
    ...kinds.map((kind) => element('td', { class: `number ${kind}` })),
  )
}

function linkOf(type: string | null, key: string, page: string | undefined): HTMLElement {
  if (type !== null) {
    const href = pageAddress('counter', { type, key })
    return element('a', { class: 'whole', href, 'data-keeps-period': '' }, keyText(key))
  }
  if (page === undefined) return element('span', {}, keyText(key))
  return element('a', { class: 'whole', href: page, rel: 'noreferrer' }, keyText(key))
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
