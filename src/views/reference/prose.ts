import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

/** What `html` makes: everything that was put into it is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Text of the document, in which backticks mark what is code. */
export function prose(text: unknown): Html {
  if (typeof text !== 'string') return html``
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
