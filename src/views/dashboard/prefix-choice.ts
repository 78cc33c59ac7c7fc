import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Html } from '../html-type.ts'

/** The prefixes that a type lists, such as those of its sites: each shows the page for its keys alone. */
export function prefixChoice({ prefixes }: CounterType): Html | '' {
  if (prefixes.length === 0) return ''
  return html`<div class="row period-bar"><div class="row choice" id="prefixes" role="group" aria-label="Keys"><button value="" aria-pressed="true">All</button>${prefixes.map(
    (prefix) => html`<button value="${prefix}" aria-pressed="false"><bdi>${prefix}</bdi></button>`,
  )}</div></div>`
}
