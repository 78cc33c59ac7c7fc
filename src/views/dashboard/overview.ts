import { html } from 'hono/html'
import { shownCompanion } from '../../config/companions.ts'
import type { CounterType } from '../../config/counter-types.ts'
import { visibleKey } from '../../visible-key.ts'
import { copyable, type Html, signedInPage, type Viewer } from './layout.ts'
import { numbersOf, ranking } from './numbers.ts'

/** The page of a type: the sum of its counters and a list of them, or before anything is counted, what to do first. */
export function overviewPage(viewer: Viewer, type: CounterType, origin: string): Html {
  return signedInPage(
    type.title,
    viewer,
    type.name,
    html`<main id="main" data-page="overview" data-type="${type.name}" data-unit="${type.unit}">
<h1>${type.title}</h1>
${firstRun(viewer, type, origin)}
${prefixChoice(type)}
${numbersOf(type, shownCompanion(type, viewer.types, 'type'))}
<section class="card" aria-labelledby="top-title">
<div class="row card-head"><h2 id="top-title">Top</h2>
<form id="search" class="row" role="search">
<label for="find" class="hidden">Keys that begin with</label>
<input id="find" name="find" type="search" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Keys that begin with …"><button>Find</button>
</form></div>
${ranking()}
<p class="row"><button id="more" class="quiet" hidden>Show more</button> <button type="button" id="list-csv" class="quiet">Save the list as CSV</button></p>
</section>
<p class="hint" id="as-of"></p>
</main>`,
  )
}

/** The prefixes of a type, such as one per site. Each button shows the page for its keys alone. */
function prefixChoice({ prefixes }: CounterType): Html | '' {
  if (prefixes.length === 0) return ''
  return html`<div class="row period-bar"><div class="row choice" id="prefixes" role="group" aria-label="Keys"><button value="" aria-pressed="true">All</button>${prefixes.map(
    (prefix) => html`<button value="${prefix}" aria-pressed="false"><bdi>${visibleKey(prefix)}</bdi></button>`,
  )}</div></div>`
}

/** What to paste. The page's script shows it while nothing has been counted. */
function firstRun(viewer: Viewer, type: CounterType, origin: string): Html {
  const address = origin + viewer.base
  return html`<section class="card" id="first-run" aria-labelledby="first-run-title" hidden>
<div class="row card-head"><h2 id="first-run-title">Count the first one</h2></div>
${type.redirectTo === null ? forPages(type, address) : forDownloads(type, address)}
<p>Waiting for the first hit. This page checks every 40 seconds and whenever you return to it.</p>
<ul>${conditions(viewer, type).map((line) => html`<li>${line}</li>`)}</ul>
<p class="hint" id="first-run-refused" role="status"></p>
</section>
<p class="hint" id="first-run-message" role="status"></p>`
}

function forPages(type: CounterType, origin: string): Html {
  const key = type.key === 'integer' ? '1' : '/about'
  const settings = `${type.name === 'page_view' ? '' : ` data-type="${type.name}"`}${type.key === 'integer' ? ` data-key="${key}"` : ''}`
  const image = `${origin}/hit.gif?key=${encodeURIComponent(key)}&amp;type=${type.name}`
  const code = `<script defer src="${origin}/slotted.js"${settings}></script>\n<noscript><img src="${image}" alt=""></noscript>`
  return html`<p>Paste this into your pages, before <code>&lt;/body&gt;</code>, and open one of them. The image counts visitors without JavaScript; its <code>key</code> is that of the page.</p>
${copyable('first-run-script', 'Script and image', code, 4)}
${badge(type, key, origin)}`
}

function forDownloads(type: CounterType, origin: string): Html {
  const key = 'app-1.2.0.tgz'
  return html`<p>Link to files by way of this Worker, and follow such a link. It redirects to <code>${type.redirectTo}${key}</code>.</p>
${copyable('first-run-download', 'Link to a download', `<a href="${origin}/d/${type.name}/${key}">Download</a>`, 2)}
${badge(type, key, origin)}`
}

function badge({ name, public: isPublic }: CounterType, key: string, origin: string): Html | '' {
  return isPublic
    ? copyable('first-run-badge', 'Badge', `![${name}](${origin}/badge/${name}/${encodeURIComponent(key)}.svg)`, 2)
    : ''
}

/** Which hits the settings of the type, and this browser, keep from being counted. */
function conditions(
  { ownVisits }: Viewer,
  { name, allowedOrigins, newKeys, redirectTo, public: isPublic, respectDoNotTrack }: CounterType,
): string[] {
  const setting = `COUNTERS.${name}`
  return [
    redirectTo === null && originsOf(setting, allowedOrigins),
    redirectTo === null && 'The script counts nothing on localhost, unless it has the attribute data-local.',
    ownVisits.marked &&
      'Visits from this browser do not count. Use another one, or count this one again (in the menu).',
    newKeys === 'known' && `Only counters that exist count: ${setting}.new_keys is "known".`,
    Array.isArray(newKeys) && `Only these keys count (${setting}.new_keys): ${newKeys.join(', ')}.`,
    respectDoNotTrack && `Browsers that ask not to be tracked do not count (${setting}.respect_do_not_track).`,
    !isPublic && `There are no badges: ${setting}.public is not set.`,
  ].filter((line) => line !== false)
}

function originsOf(setting: string, allowedOrigins: readonly string[]): string {
  const name = `${setting}.allowed_origins`
  if (allowedOrigins.length === 0) return `No page may count: ${name} is empty. Programs may, with a token.`
  if (allowedOrigins.includes('*')) return `Pages of every site may count (${name}).`
  return `Pages of these sites may count (${name}): ${allowedOrigins.join(', ')}.`
}
