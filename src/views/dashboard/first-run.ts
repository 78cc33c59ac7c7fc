import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Html } from '../html-type.ts'
import { copyable } from './copyable.ts'
import type { Viewer } from './layout.ts'

/**
 * What to paste where, for a type of which nothing has been counted. Hidden: the page's script shows it if that is so.
 *
 * @param origin the Worker's origin
 */
export function firstRun(viewer: Viewer, type: CounterType, origin: string): Html {
  const { name, public: isPublic, redirectTo } = type
  const address = origin + viewer.base
  const query = (key: string) => new URLSearchParams({ type: name, key })
  const script = name === 'page_view' ? '' : ` data-type="${name}"`
  return html`<section class="card" id="first-run" aria-labelledby="first-run-title" hidden>
<div class="card-head"><h2 id="first-run-title">Count the first one</h2></div>
<p>Paste this into your pages, before <code>&lt;/body&gt;</code>. The image counts visitors without JavaScript; its <code>key</code> is the path of the page.</p>
${copyable(
  'first-run-script',
  'Script and image',
  `<script defer src="${address}/beacon.js"${script}></script>\n<noscript><img src="${address}/hit.gif?${String(query('/about')).replace('&', '&amp;')}" alt=""></noscript>`,
  4,
)}
${redirectTo === null ? '' : copyable('first-run-download', 'Link to a download', `<a href="${address}/d/${name}/app-1.2.0.tgz">Download</a>`, 2)}
${isPublic ? copyable('first-run-badge', 'Badge', `![${name}](${address}/badge/${name}/${encodeURIComponent('/about')}.svg)`, 2) : ''}
<p>Then open one of these pages. This page looks every 5 seconds whether something was counted.</p>
<ul>${conditions(viewer, type).map((line) => html`<li>${line}</li>`)}</ul>
<p class="message" id="first-run-refused" role="status"></p>
</section>
<p class="message" id="first-run-message" role="status"></p>`
}

/** What keeps hits from being counted, by the settings of the type and for this browser. */
function conditions(
  { ownVisits }: Viewer,
  { name, allowedOrigins, newKeys, redirectTo, public: isPublic, respectDoNotTrack }: CounterType,
): string[] {
  const setting = `COUNTERS.${name}`
  return [
    allowedOrigins.length === 0
      ? `No page may count: ${setting}.allowed_origins is empty. Programs may, with a token.`
      : allowedOrigins.includes('*')
        ? `Pages of every site may count (${setting}.allowed_origins).`
        : `Pages of these sites may count (${setting}.allowed_origins): ${allowedOrigins.join(', ')}.`,
    'The script counts nothing on localhost, unless it has the attribute data-local.',
    ...(ownVisits.marked
      ? ['Visits from this browser do not count. Use another one, or count this one again (below).']
      : []),
    ...(newKeys === 'known' ? [`Only counters that exist count: ${setting}.new_keys is "known".`] : []),
    ...(Array.isArray(newKeys) ? [`Only these keys count (${setting}.new_keys): ${newKeys.join(', ')}.`] : []),
    ...(respectDoNotTrack
      ? [`Browsers that ask not to be tracked do not count (${setting}.respect_do_not_track).`]
      : []),
    ...(redirectTo === null ? [`There are no links to downloads: ${setting}.redirect_to is not set.`] : []),
    ...(isPublic ? [] : [`There are no badges: ${setting}.public is not set.`]),
  ]
}
