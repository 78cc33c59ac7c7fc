import { html } from 'hono/html'
import { type CounterType, pageOf } from '../../config/counter-types.ts'
import { COUNTER_SCRIPT } from '../../generated.ts'
import { isCompanion, ofSameKey, shownCompanion } from '../../service/companions.ts'
import { visibleKey } from '../../visible-key.ts'
import { BADGE_STYLES, COLOR_NAMES, MAX_LABEL } from '../badge.ts'
import { copyable, type Html, signedInPage, type Viewer } from './layout.ts'
import { numbersOf, options, unitOf } from './numbers.ts'
import { NEEDS_NO_SCRIPT } from './overview.ts'

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
${builder(type, also, isCompanion(type, viewer.configured))}
${viewer.mayChange ? changeForms(alsoOf(viewer, ofSameKey(type))) : ''}
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
function alsoOf({ types }: Viewer, also: readonly CounterType[]): Html | '' {
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

/** `src/browser/dashboard/changes.ts` handles the forms and the dialog. */
const changeForms = (also: Html | '') => html`<details class="card fold" id="change">
<summary><h2>Change this counter</h2></summary>
<form id="set" class="row">
<label for="new-count">Set to</label>
<input id="new-count" name="count" inputmode="numeric" required autocomplete="off" aria-describedby="change-message">
<button>Set …</button>
<button type="button" id="reset" class="danger">Reset to zero …</button>
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

const PERIODS = { '': 'All time', month: 'Last 30 days', week: 'Last 7 days', day: 'Last 24 hours' }

const CHART_PERIODS = { '': '30 days', '90d': '90 days', '12m': '12 months' }

/** The kinds of snippets that are badges, and those that are images. */
const BADGES = 'badge counting'
const IMAGES = `${BADGES} chart`
const PAGE_KINDS = { script: 'Script that counts a page', pixel: 'Image that counts a page' }

/** Badges, charts and HTML to copy, which `src/browser/dashboard/builder.ts` writes. */
function builder(type: CounterType, also: CounterType | undefined, counted: boolean): Html {
  const kinds = {
    ...(type.public && { badge: 'Badge', chart: 'Chart' }),
    ...(type.countingBadge && { counting: 'Badge that counts' }),
    ...(type.redirectTo !== null && { download: 'Link to a download' }),
    ...(type.redirectTo === null && !counted && PAGE_KINDS),
    ...(type.public && { count: 'Number in a page' }),
    ...(type.public && also?.public && { both: `Number and ${also.unit} in a page` }),
    program: 'Request of a program',
  }
  return html`<details class="card fold" id="builder">
<summary><h2>Badges, charts and snippets</h2></summary>
<form id="snippet" class="fields"${also && html` data-visitors="${also.name}" data-visitors-unit="${also.unit}"`}>
<label>For
<select name="kind">${options(kinds)}</select></label>
<label data-for="${BADGES}">Label
<input name="label" maxlength="${MAX_LABEL}" placeholder="${type.unit}" autocomplete="off"></label>
<label data-for="${BADGES}">Color
<input name="color" list="colors" pattern="#?([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})|${COLOR_NAMES.join('|')}" title="A name, or 3 or 6 hexadecimal digits" placeholder="blue" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<datalist id="colors">${COLOR_NAMES.map((name) => html`<option value="${name}"></option>`)}</datalist>
<label data-for="${BADGES}">Style
<select name="style">${BADGE_STYLES.map((style, index) => html`<option value="${index === 0 ? '' : style}">${style}</option>`)}</select></label>
<label data-for="${BADGES}">Period
<select name="period">${options(PERIODS)}</select></label>
<label data-for="chart">Period
<select name="days">${options(CHART_PERIODS)}</select></label>
<label data-for="${IMAGES}">Write as
<select name="format">${options({ markdown: 'Markdown', html: 'HTML', address: 'address' })}</select></label>
<label data-for="${BADGES}" class="row"><input type="checkbox" name="compact" value="true"> Short: 1.2k</label>
</form>
<div data-for="${IMAGES}" class="fields grounds"><p><img alt="Preview on a light ground"></p><p><img alt="Preview on a dark ground"></p></div>
<p class="hint" id="snippet-hint"></p>
${copyable('snippet-code', 'To paste', '', 3)}
<p class="hint" data-for="${Object.keys(PAGE_KINDS).join(' ')}">${sitesOf(type)}</p>
${counted ? html`<p class="hint">${NEEDS_NO_SCRIPT}</p>` : ''}
${type.public ? '' : html`<p class="hint">Badges, charts, and numbers in your pages need a public type: <code>COUNTERS.${type.name}.public = true</code>.</p>`}
</details>`
}

function sitesOf({ name, allowedOrigins }: CounterType): Html | string {
  if (allowedOrigins.includes('*')) return ''
  const sites = allowedOrigins.length === 0 ? 'No page counts' : `Only pages of ${allowedOrigins.join(', ')} count`
  return html`${sites}: see <code>SITES</code> and <code>COUNTERS.${name}.allowed_origins</code>.`
}
