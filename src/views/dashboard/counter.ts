import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Html } from '../html-type.ts'
import { signedInPage, type Viewer } from './layout.ts'
import { chartCard, figures, type IncludedNumbers, included, periodChoice } from './numbers.ts'

/**
 * The page of a counter: its count, its history, its badge, and for those who may change it, the forms.
 *
 * @param key the key from the URL, which may be invalid
 * @param origin the Worker's origin
 * @param numbers what the page shows first; `null`: its script asks for it
 */
export function counterPage(
  viewer: Viewer,
  type: CounterType,
  key: string,
  origin: string,
  numbers: IncludedNumbers | null,
): Html {
  return signedInPage(
    key,
    viewer,
    type.name,
    html`<main id="main" data-page="counter" data-type="${type.name}" data-unit="${type.unit}">
<p class="crumb"><a data-keeps-period href="${viewer.base}/?type=${encodeURIComponent(type.name)}">${type.title}</a></p>
<h1 class="key"><bdi>${key}</bdi></h1>
${figures()}
<p class="hint" id="compare-note"></p>
<p class="message" id="count-message" role="status"></p>
<p class="hint">Rolled up <b id="total">–</b>, pending <b id="pending-count">–</b>.</p>
${periodChoice()}
${chartCard(html`<div id="adjustments" hidden>
<h3>Adjustments in this period</h3>
<table><thead><tr><th scope="col">When</th><th scope="col">Kind</th><th scope="col" class="number">Added</th></tr></thead><tbody id="adjustment-rows"></tbody></table>
</div>`)}
<div class="columns">
<section class="card" aria-labelledby="badge-title">
<div class="card-head"><h2 id="badge-title">Badge</h2></div>
${type.public ? badge(type.name, key, viewer.base, origin) : html`<p>Only public types have badges. To make a type public, set <code>public = true</code> in <code>wrangler.toml</code>.</p>`}
</section>
${viewer.mayChange ? CHANGE : ''}
</div>
${viewer.mayChange ? confirmations(type.name, key) : ''}
</main>
${included(numbers)}`,
  )
}

const CHANGE = html`<section class="card" aria-labelledby="change-title">
<div class="card-head"><h2 id="change-title">Change</h2></div>
<form id="set" class="row">
<label for="new-count">Set to</label>
<input id="new-count" name="count" inputmode="numeric" pattern="\\s*-?[0-9]{1,19}\\s*" title="A whole number" required autocomplete="off">
<button>Set …</button>
</form>
<p><button id="reset" class="danger">Reset to zero …</button></p>
<p class="message" id="change-message" role="status"></p>
<form id="move" class="row">
<label for="other-key">Another key</label>
<input id="other-key" name="key" required maxlength="512" autocomplete="off">
<button value="rename">Rename …</button>
<button value="merge">Merge …</button>
</form>
<p><button id="delete" class="danger">Delete …</button></p>
<p class="message" id="move-message" role="status"></p>
</section>`

function confirmations(type: string, key: string): Html {
  return html`<dialog id="confirm" aria-labelledby="confirm-title">
<form method="dialog">
<h2 id="confirm-title">Change this counter?</h2>
<p class="key"><bdi>${key}</bdi></p>
<p>${type}</p>
<p class="change"><span id="old-value"></span> <span aria-label="becomes">→</span> <b id="new-value"></b></p>
<p class="hint">Counts that arrive before you confirm are overwritten too. The history keeps all counts and shows this change as an adjustment.</p>
<div class="row end"><button value="cancel" class="quiet">Cancel</button><button value="confirm" class="danger" id="confirm-button">Set</button></div>
</form>
</dialog>
<dialog id="confirm-move" aria-labelledby="confirm-move-title">
<form method="dialog">
<h2 id="confirm-move-title">Delete this counter?</h2>
<p class="key"><bdi>${key}</bdi> <span id="confirm-move-arrow"><span aria-label="becomes">→</span> <bdi id="confirm-move-other"></bdi></span></p>
<p>${type}</p>
<p class="hint">This takes the count and the history. It cannot be undone.</p>
<div class="row end"><button value="cancel" class="quiet">Cancel</button><button value="confirm" class="danger" id="confirm-move-button">Delete</button></div>
</form>
</dialog>`
}

function badge(type: string, key: string, base: string, origin: string): Html {
  // A parenthesis would end the URL in Markdown.
  const name = encodeURIComponent(key).replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'))
  const path = `${base}/badge/${encodeURIComponent(type)}/${name}.svg`
  return html`<p><img id="badge" src="${path}" alt="Badge with the count" height="20"></p>
<label for="badge-code">Markdown</label>
<textarea id="badge-code" readonly rows="3">![${type}](${origin}${path})</textarea>
<p><button id="copy" class="quiet" data-copies="badge-code">Copy</button> <span id="copy-message" role="status"></span></p>`
}
