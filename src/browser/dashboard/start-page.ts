import { showLastChange } from './change-done.ts'

/**
 * Starts a page once it is there. A cached script is loaded before the page: its slow parts then run while the page's numbers
 * are still to come.
 */
export function startPage(start: (main: DOMStringMap) => void): void {
  const run = () => {
    start(document.querySelector('main')?.dataset ?? {})
    if (document.getElementById('done') !== null) showLastChange()
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', run)
  else run()
}
