import type { ChartData } from './chart-tip.ts'
import { showCount } from './counts.ts'
import { saveCsv } from './csv-buttons.ts'
import { byId, element, numberCell } from './elements.ts'
import { showUnit } from './format-time.ts'

/** The numbers of the chart: a table, which a button shows, and a file, which another one saves. */
export class ChartTable {
  readonly #region = byId('history-numbers')
  #data: ChartData | undefined

  /** @param name the beginning of the file's name */
  constructor(name: string) {
    const button = byId('history-table')
    button.addEventListener('click', () => {
      this.#region.hidden = !this.#region.hidden
      button.setAttribute('aria-expanded', String(!this.#region.hidden))
      this.#fill()
    })
    byId('history-csv').addEventListener('click', () => {
      if (this.#data === undefined) return
      const { first, last } = this.#data
      const { columns, points } = this.#counted(this.#data)
      saveCsv(
        `${name}-${first}-${last}`,
        ['start', ...columns],
        points.map((point) => [point.start, ...columns.map((column) => point[column])]),
      )
    })
  }

  show(data: ChartData): void {
    this.#data = data
    this.#fill()
  }

  /** The rows are made when the table is seen. */
  #fill(): void {
    if (this.#data === undefined) return
    const { by } = this.#data
    const { columns, points } = this.#counted(this.#data)
    for (const name of ['before', 'also'] as const) byId(`history-${name}`).hidden = !columns.includes(name)
    const rows = (this.#region.hidden ? [] : points).map((point) => {
      const unit = element('th', { scope: 'row' }, showUnit(new Date(point.start), by))
      const counts = columns.map((column) => numberCell(point[column] == null ? '–' : showCount(point[column])))
      return element('tr', {}, unit, ...counts)
    })
    byId('history-rows').replaceChildren(...rows)
  }

  /** The points that are not still to come, and what they have besides their count. */
  #counted({ points }: ChartData) {
    const more = (['before', 'also'] as const).filter((name) => points.some((point) => point[name] != null))
    return { columns: ['count', ...more] as const, points: points.filter(({ count }) => count !== null) }
  }
}
