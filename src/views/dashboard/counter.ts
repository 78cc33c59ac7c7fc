import { html } from 'hono/html'
import { type CounterType, pageOf } from '../../config/counter-types.ts'
import type { View } from '../../periods.ts'
import { type CounterNumbers, shownCompanion } from '../../service/page-numbers.ts'
import { visibleKey } from '../../visible-key.ts'
import { showChange } from '../english.ts'
import { type Html, keyText, type Viewer } from './layout.ts'
import { noteOf, numbersOf } from './shown-numbers.ts'

/** The main part of the page of a counter. @param key the key from the URL */
export function counterMain(viewer: Viewer, type: CounterType, key: string, view: View, numbers: CounterNumbers): Html {
  const { base, types, period } = viewer
  const page = pageOf(type.url, key)
  const [path, named] = [`${base}/counter`, { type: type.name, key }]
  const shown = { type, also: shownCompanion(type, types, 'counter'), view, numbers, path, named, hasChoices: true }
  const typePage = (more = {}) => `${base}/?${new URLSearchParams({ type: type.name, ...period, ...more })}`
  return html`<main id="main" data-page="counter" data-type="${type.name}" data-zone="${numbers.timeZone}">
<p class="row"><a href="${typePage()}">${type.title}</a> <a href="${typePage({ share: 'key', of: key })}">Share</a></p>
<h1 class="key">${keyText(key)}</h1>
${page === null ? '' : html`<p><a href="${page}">${visibleKey(page)}</a></p>`}
${
  numbers.exists
    ? html`${numbersOf(shown, adjustments(numbers))}
${viewer.mayChange ? changeForms(alsoOf(viewer, type)) : ''}
<p class="hint" id="as-of">${noteOf(numbers)}</p>`
    : html`<p>Nothing has been counted under this key.</p>`
}
</main>`
}

function adjustments({ adjustments }: CounterNumbers): Html | '' {
  if (adjustments.length === 0) return ''
  const rows = adjustments.map(
    ({ time, kind, count }) =>
      html`<tr><td>${time.slice(0, 16).replace('T', ' ')}</td><td>${kind}</td><td class="number">${showChange(count)}</td></tr>`,
  )
  return html`<div id="adjustments">
<h3>Set or imported in this period</h3>
<p class="hint">These adjustments changed the total. The chart shows only counted hits.</p>
<table><thead><tr><th scope="col">When</th><th scope="col">Kind</th><th scope="col" class="number">Change</th></tr></thead><tbody>${rows}</tbody></table>
</div>`
}

/** Asks whether a change takes the counters of the same key in further types along, or says why it does not. */
function alsoOf({ types }: Viewer, type: CounterType): Html | '' {
  const also = type.also.filter(({ visitorsOf }) => visitorsOf === 'page')
  if (also.length === 0) return ''
  // A token may not learn the names of types that it does not cover.
  if (!also.every((type) => types.includes(type))) {
    return html`<p>The same key in other types is not changed: this token does not cover all of them.</p>`
  }
  const counts = also.map(({ name, title }, index) => {
    const joint = index === 0 ? '' : index === also.length - 1 ? ' and ' : ', '
    return html`${joint}${title} (<span data-also="${name}"></span>)`
  })
  return html`<p><label><input type="checkbox" id="also" checked> Include the same key in ${counts}</label></p>`
}

/** `src/browser/dashboard/counter-changes.ts` handles the forms and the dialog. */
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
<div class="row"><button value="cancel" class="quiet">Cancel</button><button value="confirm" class="danger" id="confirm-button">Continue</button></div>
</form>
</dialog>`
