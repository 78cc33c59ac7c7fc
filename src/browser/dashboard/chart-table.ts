import type { ChartData } from './chart-tip.ts'
import { showCount } from './counts.ts'
import { byId, element, numberCell } from './elements.ts'
import { showUnit } from './format-time.ts'
import type { Point } from './numbers.ts'

/** The table of the chart, which a button shows. Its rows are made when it is seen. */
export class ChartTable {
  readonly #button = byId('history-table')
  readonly #region = byId('history-numbers')
  #data: ChartData | undefined

  constructor() {
    this.#button.addEventListener('click', () => {
      const shows = this.#region.hidden
      this.#region.hidden = !shows
      this.#button.setAttribute('aria-expanded', String(shows))
      this.#fill()
    })
  }

  show(data: ChartData): void {
    this.#data = data
    this.#fill()
  }

  #fill(): void {
    if (this.#data === undefined) return
    const { points, by } = this.#data
    const more = (['before', 'also'] as const).filter((name) => has(points, name))
    for (const name of ['before', 'also'] as const) byId(`history-${name}`).hidden = !more.includes(name)
    const rows = (this.#region.hidden ? [] : counted(points)).map((point) => {
      const unit = element('th', { scope: 'row' }, showUnit(new Date(point.start), by))
      const counts = [point.count, ...more.map((name) => point[name])]
      return element('tr', {}, unit, ...counts.map((count) => numberCell(count == null ? '–' : showCount(count))))
    })
    byId('history-rows').replaceChildren(...rows)
  }
}

/** Whether points have more than their count. */
export const has = (points: readonly Point[], name: 'before' | 'also') => points.some((point) => point[name] != null)

/** Those that are not still to come. */
export const counted = (points: readonly Point[]) => points.filter(({ count }) => count !== null)
