// The tip of the chart. For assistive technology the chart is a slider, whose value is the unit with the tip: so it gets the arrow
// keys, and says each unit. What the tip says is in the table below the chart.
import { element, on } from './elements.ts'

/** Pixels between the tip and its unit. */
const GAP = 6

/** The index of the unit with the tip, and of the one that had it before the pointer went down. */
let at: number | undefined
let atBefore: number | undefined

const chart = () => document.querySelector<HTMLElement>('#chart')
const rows = () => [...document.querySelectorAll<HTMLTableRowElement>('#table-rows tbody tr')]
const nameOf = (row: HTMLTableRowElement) => row.cells[0]!.textContent
/** The name of the unit with the tip, by which a newer chart finds it; empty: none has it. */
export const unitOfTip = () => (at === undefined ? '' : nameOf(rows()[at]!))

/** Starts the chart of a page. It may be replaced. */
export function startChart(): void {
  const under = (holder: HTMLElement, { clientX }: MouseEvent): number | undefined => {
    const { left, width } = placeOf(holder)
    const index = Math.floor((clientX - left) / width)
    return index >= 0 && index < rows().length ? index : undefined
  }
  on('pointerdown', '#chart', (holder, event) => {
    atBefore = at
    select(under(holder, event))
  })
  document.addEventListener('pointermove', (event) => {
    const holder = event.target instanceof Element && event.target.closest<HTMLElement>('#chart')
    if (holder) select(under(holder, event))
    // A finger leaves whenever it is lifted, and the tip stays.
    else if (at !== undefined && event.pointerType === 'mouse' && document.activeElement !== chart()) select(undefined)
  })
  document.addEventListener('focusout', ({ target }) => target === chart() && select(undefined))
  // A first tap shows the tip, which a mouse has shown before.
  on('click', '#chart', (holder, event) => {
    if (under(holder, event) === atBefore) openUnit()
  })
  on('keydown', '#chart', (_, event) => press(event))
  makeSlider()
}

/** Makes a chart a slider, and shows the tip of a unit. */
export function makeSlider(unit = ''): void {
  const holder = chart()
  if (holder === null) return
  const isOpening = rows()[0]?.querySelector('a') != null
  holder.ariaLabel = `${holder.ariaLabel}. Arrow keys move${isOpening ? ', Enter opens' : ''}.`
  Object.assign(holder, { role: 'slider', tabIndex: 0, ariaValueMin: '0' })
  const index = rows().findIndex((row) => nameOf(row) === unit)
  select(index === -1 ? undefined : index)
}

/** Where the units begin, and how wide each is, in pixels. */
function placeOf(holder: HTMLElement): { left: number; width: number } {
  const drawing = holder.querySelector('.grid')!.getBoundingClientRect()
  return { left: drawing.left, width: drawing.width / Number(holder.dataset.units) }
}

function press(event: KeyboardEvent): void {
  const last = rows().length - 1
  const { key, altKey, ctrlKey, metaKey } = event
  if (altKey || ctrlKey || metaKey || last === -1) return
  const moves: Record<string, number> = {
    ArrowLeft: (at ?? last + 1) - 1,
    ArrowRight: (at ?? last) + 1,
    Home: 0,
    End: last,
  }
  if (key in moves) select(Math.max(0, Math.min(moves[key]!, last)))
  else if (key === 'Enter') openUnit()
  else if (key === 'Escape' && at !== undefined) select(undefined)
  else return
  event.preventDefault()
}

function openUnit(): void {
  if (at !== undefined) rows()[at]?.querySelector('a')?.click()
}

/** Shows the tip of a unit, and a band behind its bar. */
function select(index: number | undefined): void {
  at = index
  const holder = chart()
  if (holder === null) return
  const all = rows()
  const lines = linesOf(all[index ?? all.length - 1])
  // Triangles have no names that are read well.
  const said = lines.map(({ textContent }) => textContent.replace('▲', 'up').replace('▼', 'down')).join(', ')
  Object.assign(holder, {
    ariaValueMax: String(all.length - 1),
    ariaValueNow: String(index ?? all.length - 1),
    ariaValueText: said,
  })
  const band = holder.querySelector('.band')!
  const units = Number(holder.dataset.units)
  band.setAttribute('x', `${(100 * (index ?? 0)) / units}%`)
  band.setAttribute('width', index === undefined ? '0' : `${100 / units}%`)
  holder.querySelector('.tip')?.remove()
  if (index === undefined) return
  const tip = element('div', { class: 'tip' }, ...lines)
  holder.append(tip)
  const { left, width } = placeOf(holder)
  const start = left + width * index - holder.getBoundingClientRect().left
  const room = holder.clientWidth - tip.offsetWidth
  const beside = start + width + GAP <= room ? start + width + GAP : start - GAP - tip.offsetWidth
  tip.style.left = `${Math.max(0, Math.min(beside, room))}px`
}

/** The counts of a unit and its time, each of its parts, and of the period before, the same with the change. */
function linesOf(row: HTMLTableRowElement | undefined): HTMLElement[] {
  if (row === undefined) return []
  const cells = [...row.cells].slice(1)
  const before = cells.findIndex(({ classList }) => classList.contains('before'))
  const copy = (cell: HTMLElement) => [...cell.cloneNode(true).childNodes]
  const isPart = ({ classList }: HTMLElement) => classList.contains('part-of')
  const counts = cells.slice(0, before === -1 ? undefined : before).filter((cell) => !isPart(cell))
  const first = counts.flatMap((cell, index) => [...(index === 0 ? [] : [' · ']), ...copy(cell)])
  const parts = cells.filter(isPart).map((cell) => element('div', {}, ...copy(cell)))
  const lines = [element('div', {}, ...first, ` · ${nameOf(row)}`), ...parts]
  if (before === -1 || cells[before]!.textContent === '–') return lines
  return [...lines, element('div', {}, ...copy(cells[before]!), ' ', ...copy(cells[before + 1]!))]
}
