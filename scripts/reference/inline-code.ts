import { html } from 'hono/html'
import type { Html } from '../../src/views/dashboard/layout.ts'

/** Text from the document as HTML: parts in backticks become code. */
export function withCode(text: unknown): Html {
  if (typeof text !== 'string') return html``
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
