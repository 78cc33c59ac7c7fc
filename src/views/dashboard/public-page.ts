import { html } from 'hono/html'
import { shownCompanion } from '../../config/companions.ts'
import type { CounterType } from '../../config/counter-types.ts'
import { document, type Html } from './layout.ts'
import { numbersOf, ranking, unitOf } from './numbers.ts'

/**
 * The page of a type for everybody: its figures, its chart and its list.
 * @param all the types with a public page
 */
export function publicPage(base: string, type: CounterType, all: readonly CounterType[]): Html {
  const path = (name: string) => `${base}/stats/${encodeURIComponent(name)}`
  const links = all.map(
    ({ name, title }) =>
      html`<a data-keeps-period href="${path(name)}"${name === type.name ? html` aria-current="page"` : ''}>${title}</a>`,
  )
  return document(
    type.title,
    base,
    html`<a class="skip" href="#main">Skip to content</a>
${all.length > 1 ? html`<header class="row top"><nav class="row" aria-label="Types">${links}</nav></header>` : ''}
<noscript><p class="notice">The numbers on this page need JavaScript.</p></noscript>
<main id="main" data-page="public" data-type="${type.name}"${unitOf(type)} data-numbers="${path(type.name)}/numbers">
<h1>${type.title}</h1>
${numbersOf(shownCompanion(type, all, 'type'), { days: false })}
<section class="card" aria-labelledby="top-title">
<div class="row card-head"><h2 id="top-title">Top</h2></div>
${ranking()}
</section>
<p class="hint" id="as-of"></p>
</main>`,
  )
}
