import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import { BADGE_STYLES, MAX_LABEL } from '../badge/badge.ts'
import { COLOR_NAMES } from '../badge/color.ts'
import type { Html } from '../html-type.ts'
import { copyable } from './copyable.ts'

const PERIODS = { '': 'All time', month: 'Last 30 days', week: 'Last 7 days', day: 'Last 24 hours' }

/** Badges and pieces of HTML for a counter, to copy. `src/browser/dashboard/builder.ts` writes them as the form says. */
export function builder(type: CounterType): Html {
  return html`<details class="card fold" id="builder">
<summary><h2>Badges and snippets</h2></summary>
<form id="snippet" class="fields">
<label>For
<select name="kind">${kindsOf(type).map(([kind, text]) => html`<option value="${kind}">${text}</option>`)}</select></label>
<label class="of-badge">Label
<input name="label" maxlength="${MAX_LABEL}" placeholder="${type.name}" autocomplete="off"></label>
<label class="of-badge">Color
<input name="color" list="colors" pattern="#?([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})|${COLOR_NAMES.join('|')}" title="A name, or 3 or 6 hexadecimal digits" placeholder="blue" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<datalist id="colors">${COLOR_NAMES.map((name) => html`<option value="${name}"></option>`)}</datalist>
<label class="of-badge">Style
<select name="style">${BADGE_STYLES.map((style, index) => html`<option value="${index === 0 ? '' : style}">${style}</option>`)}</select></label>
<label class="of-badge">Period
<select name="period">${Object.entries(PERIODS).map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></label>
<label class="of-badge">Write as
<select name="format"><option value="markdown">Markdown</option><option value="html">HTML</option><option value="address">address</option></select></label>
<label class="of-badge row"><input type="checkbox" name="compact"> Short: 1.2k</label>
</form>
<p class="of-badge"><img id="badge" alt="Preview of the badge" height="20"></p>
<p class="hint" id="snippet-hint"></p>
${copyable('snippet-code', 'To paste', '', 3)}
${type.public ? '' : html`<p class="hint">Badges, and numbers in your pages, need a public type: <code>COUNTERS.${type.name}.public = true</code>.</p>`}
</details>`
}

/** What can be made for a type. */
function kindsOf(type: CounterType): [kind: string, text: string][] {
  return Object.entries({
    ...(type.public && { badge: 'Badge' }),
    ...(type.countingBadge && { counting: 'Badge that counts' }),
    ...(type.redirectTo !== null && { download: 'Link to a download' }),
    script: 'Script that counts a page',
    pixel: 'Image that counts a page',
    ...(type.public && { count: 'Number in a page' }),
  })
}
