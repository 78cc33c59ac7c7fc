/** Where a visitor was in a list: the number of its rows, and how far the page was scrolled. */
interface Place {
  rows: number
  y: number
}

/**
 * Keeps the place in the entry of the browser's history when the visitor leaves the page, for coming back.
 * @param rows the number of rows at that time
 * @returns the place that was kept, if any
 */
export function keptPlace(rows: () => number): Place | null {
  addEventListener('pagehide', () => history.replaceState({ rows: rows(), y: scrollY } satisfies Place, ''))
  return history.state as Place | null
}
