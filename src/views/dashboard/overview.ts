import { html } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { shownCompanion } from '../../service/page-numbers.ts'
import { visibleKey } from '../../visible-key.ts'
import { copyable, type Html, signedInPage, type Viewer } from './layout.ts'
import { checkForm } from './plain-pages.ts'
import { numbersOf, ranking, unitOf } from './shown-numbers.ts'

/** The page of a type: the sum of its counters and a list of them, or before anything is counted, what to do first. */
export function overviewPage(viewer: Viewer, type: CounterType, origin: string): Html {
  return signedInPage(
    type.title,
    viewer,
    type.name,
    html`<main id="main" data-page="overview" data-type="${type.name}"${unitOf(type)}>
<div class="row title"><h1>${type.title}</h1>${prefixChoice(type)}</div>
${firstRun(
  type,
  origin + viewer.base,
  viewer.configured.some(({ also, bots }) => bots === type || also.includes(type)),
)}
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

/** The steps to the first hit, which the script shows instead of numbers. `counted`: visits count with those of another type. */
function firstRun(type: CounterType, address: string, counted: boolean): Html {
  const check = `${address}/check?type=${encodeURIComponent(type.name)}`
  return html`<section class="card" id="first-run" aria-labelledby="first-run-title" hidden>
<h2 id="first-run-title">Count the first one</h2>
<ol>
${counted ? html`<li><p>It needs no script: visits count here with those of the type whose <code>also</code> or <code>bots</code> names this one.</p></li>` : type.redirectTo === null ? forPages(type, address) : forDownloads(type, address)}
<li><p id="first-run-state" role="status"></p>
<p class="hint" id="first-run-refused" role="status"></p>
<p class="hint">Does a visit not count? Open <a href="${check}">${check}</a> in the same browser.</p></li>
</ol>
</section>`
}

function forPages(type: CounterType, address: string): Html {
  const settings = type.name === 'page_view' ? '' : ` data-type="${type.name}"`
  const image = `${address}/hit.gif?key=%2Fabout&amp;type=${type.name}`
  const code = `<script defer src="${address}/slotted.js"${settings}></script>\n<noscript><img src="${image}" alt=""></noscript>`
  return html`<li><p>Paste this into your pages, before <code>&lt;/body&gt;</code>. The image counts visitors without JavaScript; its <code>key</code> is that of the page.</p>
${copyable('first-run-script', 'Script and image', code, 4)}</li>
<li><p>Open one of the pages. To know in advance whether it counts, check its address:</p>
${checkForm(html`<input type="hidden" name="type" value="${type.name}">`)}</li>`
}

function forDownloads(type: CounterType, address: string): Html {
  const key = 'app-1.2.0.tgz'
  return html`<li><p>Link to your files through this Worker. This link redirects to <code>${type.redirectTo}${key}</code>.</p>
${copyable('first-run-download', 'Link to a download', `<a href="${address}/d/${type.name}/${key}">Download</a>`, 2)}</li>
<li><p>Follow the link.</p></li>`
}
