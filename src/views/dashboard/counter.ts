import { html } from 'hono/html'
import { type CounterType, pageOf } from '../../config/counter-types.ts'
import { COUNTER_SCRIPT } from '../../generated.ts'
import { shownCompanion } from '../../service/page-numbers.ts'
import { visibleKey } from '../../visible-key.ts'
import { type Html, signedInPage, type Viewer } from './layout.ts'
import { numbersOf, unitOf } from './shown-numbers.ts'

/** @param key the key from the URL, which may be invalid */
export function counterPage(viewer: Viewer, type: CounterType, key: string): Html {
  const page = pageOf(type.url, key)
  const also = shownCompanion(type, viewer.types, 'counter')
  return signedInPage(
    visibleKey(key),
    viewer,
    type.name,
    html`<main id="main" data-page="counter" data-type="${type.name}"${unitOf(type)}>
<p><a data-keeps-period href="${viewer.base}/?type=${encodeURIComponent(type.name)}">${type.title}</a></p>
<h1 class="key"><bdi>${visibleKey(key)}</bdi></h1>
${page === null ? '' : html`<p><a href="${page}" rel="noreferrer">${visibleKey(page)}</a></p>`}
${numbersOf(type, also, { more: ADJUSTMENTS })}
${viewer.mayChange ? changeForms(alsoOf(viewer, type)) : ''}
<p class="hint" id="as-of"></p>
</main>`,
    COUNTER_SCRIPT,
  )
}

const ADJUSTMENTS = html`<div id="adjustments" hidden>
<h3>Set or imported in this period</h3>
<p class="hint">These changed the count, but are not in the chart: nothing was counted then.</p>
<table><thead><tr><th scope="col">When</th><th scope="col">How</th><th scope="col" class="number">Added</th></tr></thead><tbody id="adjustment-rows"></tbody></table>
</div>`

/** Asks whether a change takes the counters of the same key in further types along, or says why it does not. */
function alsoOf({ types }: Viewer, type: CounterType): Html | '' {
  const also = type.also.filter(({ visitorsOf }) => visitorsOf === 'page')
  if (also.length === 0) return ''
  // A token may not learn the names of types that it does not cover.
  if (!also.every((type) => types.includes(type))) {
    return html`<p>The same key in other types stays as it is: this token may not change all of them.</p>`
  }
  const counts = also.map(({ name, title }, index) => {
    const joint = index === 0 ? '' : index === also.length - 1 ? ' and ' : ', '
    return html`${joint}${title} (<span data-also="${name}"></span>)`
  })
  return html`<p><label><input type="checkbox" id="also" checked> The same key in ${counts} too</label></p>`
}

/** `src/browser/dashboard/counter-page.ts` handles the forms and the dialog. */
const changeForms = (also: Html | '') => html`<details class="card fold" id="change">
<summary><h2>Change this counter</h2></summary>
<form id="set" class="row">
<label for="new-count">Set to</label>
<input id="new-count" name="count" inputmode="numeric" required autocomplete="off" aria-describedby="change-message">
<button>Set …</button>
</form>
<p class="hint" id="change-message" role="status"></p>
<form id="move" class="row">
<label for="other-key">Another key</label>
<input id="other-key" name="key" required maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="move-message">
<button value="rename">Rename …</button>
<button value="merge">Merge …</button>
</form>
<p class="hint" id="move-message" role="status"></p>
<p class="row"><button type="button" id="delete" class="danger">Delete …</button></p>
</details>
<dialog id="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-text">
<form method="dialog">
<h2 id="confirm-title">Are you sure?</h2>
<div id="confirm-text"></div>
<div id="confirm-also">${also}</div>
<div class="row end"><button value="cancel" class="quiet">Cancel</button><button value="confirm" class="danger" id="confirm-button">Go on</button></div>
</form>
</dialog>`
