import { html } from 'hono/html'
import { isCompanion, shownCompanion } from '../../config/companions.ts'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { visibleKey } from '../../visible-key.ts'
import { firstRun } from './first-run.ts'
import { type Html, signedInPage, type Viewer } from './layout.ts'
import { numbersOf, ranking, unitOf } from './numbers.ts'

/**
 * The page of a type: the sum of its counters and a list of them, or before anything is counted, what to do first.
 * @param types all types, whether the viewer sees them or not
 */
export function overviewPage(viewer: Viewer, type: CounterType, origin: string, types: readonly CounterType[]): Html {
  return signedInPage(
    type.title,
    viewer,
    type.name,
    html`<main id="main" data-page="overview" data-type="${type.name}"${unitOf(type)}>
<div class="row title"><h1>${type.title}</h1>${prefixChoice(type)}</div>
${firstRun(type, origin + viewer.base, isCompanion(type, types))}
${numbersOf(type, shownCompanion(type, viewer.types, 'type'))}
<section class="card" aria-labelledby="top-title">
<div class="row card-head"><h2 id="top-title">${capitalized(type.keys)}</h2> <span class="hint" id="top-of"></span>
<form id="search" role="search">
<label for="find" class="hidden">Filter</label>
<input id="find" name="find" type="search" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Filter: howto, /blog/ …">
</form></div>
${ranking(type, shownCompanion(type, viewer.types, 'counter'))}
<p class="row"><button id="more" class="quiet" hidden>Show more</button> <button type="button" id="list-csv" class="quiet">Save as CSV</button> <span class="hint" id="list-csv-message" role="status"></span></p>
</section>
<p class="hint" id="as-of"></p>
</main>`,
  )
}

/** The prefixes of a type, such as one per site. Each button shows the page for its keys alone. */
function prefixChoice({ prefixes }: CounterType): Html | '' {
  if (prefixes.length === 0) return ''
  return html`<div class="row choice" id="prefixes" role="group" aria-label="Keys"><button value="" aria-pressed="true">All</button>${prefixes.map(
    (prefix) => html`<button value="${prefix}" aria-pressed="false"><bdi>${visibleKey(prefix)}</bdi></button>`,
  )}</div>`
}
