import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import { checkForm } from './check.ts'
import { copyable, type Html } from './layout.ts'

/** Of a type in which the visits of another count too (`isCompanion`). */
export const NEEDS_NO_SCRIPT = html`It needs no script: visits count here with those of the type whose <code>also</code> or <code>bots</code> names this one.`

/**
 * The steps to the first hit. The page's script shows them instead of numbers while nothing has been counted.
 * @param address the Worker's origin and base path
 * @param counted whether visits count with those of another type
 */
export function firstRun(type: CounterType, address: string, counted: boolean): Html {
  const check = `${address}/check?type=${encodeURIComponent(type.name)}`
  return html`<section class="card" id="first-run" aria-labelledby="first-run-title" hidden>
<h2 id="first-run-title">Count the first one</h2>
<ol>
${counted ? html`<li><p>${NEEDS_NO_SCRIPT}</p></li>` : type.redirectTo === null ? forPages(type, address) : forDownloads(type, address)}
<li><p id="first-run-state" role="status"></p>
<p class="hint" id="first-run-refused" role="status"></p>
<p class="hint">Does a visit not count? Open <a href="${check}">${check}</a> in the same browser.</p></li>
</ol>
</section>`
}

function forPages(type: CounterType, address: string): Html {
  const key = type.key === 'integer' ? '1' : '/about'
  const settings = `${type.name === 'page_view' ? '' : ` data-type="${type.name}"`}${type.key === 'integer' ? ` data-key="${key}"` : ''}`
  const image = `${address}/hit.gif?key=${encodeURIComponent(key)}&amp;type=${type.name}`
  const code = `<script defer src="${address}/slotted.js"${settings}></script>\n<noscript><img src="${image}" alt=""></noscript>`
  return html`<li><p>Paste this into your pages, before <code>&lt;/body&gt;</code>. The image counts visitors without JavaScript; its <code>key</code> is that of the page.</p>
${copyable('first-run-script', 'Script and image', code, 4)}</li>
<li><p>Open one of the pages. To know in advance whether it counts, check its address:</p>
${checkForm(html`<input type="hidden" name="type" value="${type.name}">`)}</li>`
}

function forDownloads(type: CounterType, address: string): Html {
  const key = 'app-1.2.0.tgz'
  return html`<li><p>Link to files by way of this Worker. This link redirects to <code>${type.redirectTo}${key}</code>.</p>
${copyable('first-run-download', 'Link to a download', `<a href="${address}/d/${type.name}/${key}">Download</a>`, 2)}</li>
<li><p>Follow the link.</p></li>`
}
