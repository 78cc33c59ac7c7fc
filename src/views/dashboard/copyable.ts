import { html } from 'hono/html'
import type { Html } from '../html-type.ts'

/** Text to copy, with a button. `src/browser/dashboard/copy-buttons.ts` handles the click. */
export function copyable(id: string, label: string, text: string, rows: number): Html {
  return html`<label for="${id}">${label}</label>
<textarea id="${id}" readonly rows="${rows}" spellcheck="false">${text}</textarea>
<p><button type="button" class="quiet" data-copies="${id}" aria-label="Copy: ${label}">Copy</button> <span role="status"></span></p>`
}
