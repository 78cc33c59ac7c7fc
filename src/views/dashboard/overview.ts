import { html } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { type View, viewQuery } from '../../periods.ts'
import { shownCompanion, type TypeNumbers } from '../../service/page-numbers.ts'
import { withUnit } from '../../units.ts'
import { destinationOf } from '../../visits/download.ts'
import { showCount } from '../english.ts'
import { copyable, type Html, keyText, type Viewer } from './layout.ts'
import { checkForm } from './plain-pages.ts'
import { shareButton, sharePanel } from './share.ts'
import { addressOf, choices, hiddenFields, listOf, noteOf, numbersOf, type Shown } from './shown-numbers.ts'

/** The rows of a list at first, and of each of its pages; and the most of these. */
export const [FIRST_ROWS, ROWS_OF_PAGE, MAX_PAGES] = [10, 100, 9]

/** What the first steps need. `refused`: why the latest hit of the type did not count */
interface FirstRun {
  viewer: Viewer
  type: CounterType
  origin: string
  refused: string
}

/** The main part of the page of a type: its numbers and its list, or before anything is counted, what to do first. */
export function overviewMain(first: FirstRun, view: View, numbers: TypeNumbers): Html {
  const { viewer, type, origin } = first
  const { base, types, period } = viewer
  const { list, prefix, total } = numbers
  const [path, named] = [`${base}/`, { type: type.name }]
  const shown = { type, also: shownCompanion(type, types, 'type'), view, numbers, path, named, hasChoices: true }
  const isEmpty = list.counters.length === 0 && view.find === '' && total === 0n
  const counter = (key: string) => `${base}/counter?${new URLSearchParams({ type: type.name, key, ...period })}`
  return html`<main id="main" data-page="overview" data-type="${type.name}" data-zone="${numbers.timeZone}">
<div class="row title"><h1>${type.title}</h1>${prefixChoice(shown, prefix)}${isEmpty ? '' : shareButton(shown)}</div>
${
  isEmpty
    ? firstRun(first)
    : html`${sharePanel(shown, origin, list)}
${numbersOf(shown)}
<section class="card" aria-labelledby="list-title">
<div class="row card-head"><h2 id="list-title">${capitalized(type.keys)}</h2> <span class="hint" id="found">${foundText(type, list)}</span>
${search(shown)}</div>
${listOf(shown, list, shownCompanion(type, types, 'counter'), ({ key }) => counter(key))}
<p class="hint" id="list-message">${listMessage(list, view)}</p>
${pages(shown, list)}
</section>
${folders(shown, list)}
<p class="hint" id="as-of">${view.find !== '' && numbers.isOfType ? 'Too many keys match to add them up, so the figures and the chart cover all keys. ' : ''}${noteOf(numbers)}</p>`
}
</main>`
}

/** The prefixes of a type, such as one per site. Each shows the page for its keys alone. */
function prefixChoice(shown: Shown, current: string | null): Html | '' {
  const { prefixes } = shown.type
  const links = ['', ...prefixes].map((find) => {
    return [find === '' ? 'All' : keyText(find), { find, page: 0 }, find === (current ?? '')] as const
  })
  return prefixes.length === 0 ? '' : choices(shown, 'Keys', links)
}

/** How many keys there are, or what a search has found: "23 of 301 pages · 15,931 views". */
function foundText(type: CounterType, { of, searched }: TypeNumbers['list']): string {
  if (searched === undefined) return of === null ? '' : showCount(of)
  const { keys, all, found, sum } = searched
  return `${showCount(found)}${all ? ` of ${showCount(keys)}` : ''} ${type.keys} · ${withUnit(showCount(sum), sum, type)}`
}

function search({ path, named, view }: Shown): Html {
  const kept = { ...named, ...viewQuery({ ...view, find: '', page: 0 }) }
  return html`<form role="search" class="row" action="${path}">${hiddenFields(kept)}
<label for="find" class="hidden">Filter</label>
<input id="find" name="find" type="search" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Filter: howto, /blog/ …" value="${view.find}">
</form>`
}

function listMessage({ counters, more, ranked, searched }: TypeNumbers['list'], { find, page, sort }: View): string {
  const limit =
    searched?.all === false
      ? ` Beyond matches at the start of a key, only the first ${showCount(searched.keys)} keys were searched.`
      : ''
  if (counters.length === 0) {
    return find === ''
      ? 'Nothing was counted in this period. Choose a longer one.'
      : `Nothing found in this period.${limit}`
  }
  if (!ranked && find === '')
    return 'Too many counters to rank for this period. These are the all-time leaders. A day (UTC), a month (UTC) and all time can be ranked.'
  if (!ranked) return 'Too many matches to rank. They are listed alphabetically.'
  if (sort !== '' && more && !searched) return 'Only the 1,000 highest counts are sorted.'
  return (page === MAX_PAGES && more ? 'The list ends here. Use the filter to find other keys.' : '') + limit
}

function folders(shown: Shown, { folders }: TypeNumbers['list']): Html | '' {
  const rows = folders.map(
    ({ key, count }) =>
      html`<tr><th scope="row"><a href="${addressOf(shown, { find: key, page: 0 })}">${keyText(key)}</a></th><td class="number">${showCount(count)}</td></tr>\n`,
  )
  return folders.length === 0
    ? ''
    : html`<section class="card" aria-labelledby="folders-title"><h2 id="folders-title">By folder</h2>
<table class="ranking"><tbody id="folders">
${rows}</tbody></table></section>`
}

function pages(shown: Shown, { more, counters }: TypeNumbers['list']): Html {
  const { page } = shown.view
  const link = (to: number, text: string) => html`<a href="${addressOf(shown, { page: to })}">${text}</a>`
  const nth = (page: number) => `${(page - 1) * ROWS_OF_PAGE + 1} to ${(page - 1) * ROWS_OF_PAGE + counters.length}`
  return html`<nav class="row pages" aria-label="Rows">${page > 1 ? link(page - 1, 'Previous') : ''}
${page > 1 ? html`<span class="hint">Rows ${nth(page)}</span>` : ''}
${more && page < MAX_PAGES ? link(page + 1, page === 0 ? 'Show more' : 'Next') : ''}
<a href="${addressOf(shown, { csv: 'list' })}" download>Save as CSV</a></nav>`
}

/** The steps to the first hit. */
export function firstRun({ viewer, type, origin, refused }: FirstRun): Html {
  const address = origin + viewer.base
  // Whether visits count with those of another type.
  const isCounted = viewer.configured.some(({ also, bots }) => bots === type || also.includes(type))
  const check = `${address}/check?type=${encodeURIComponent(type.name)}`
  return html`<section class="card" id="first-run" aria-labelledby="first-run-title">
<h2 id="first-run-title">Count the first hit</h2>
<ol>
${isCounted ? html`<li><p>No script needed: this type counts hits of the type that names it in <code>also</code> or <code>bots</code>.</p></li>` : type.redirectTo === null ? forPages(type, address) : forDownloads(type, address)}
<li><p>Waiting for the first hit. This page checks every 30 seconds and whenever you return to it.</p>
<p id="first-run-refused">${refused}</p>
<p class="hint">Visit not counted? Open <a href="${check}">${check}</a> in the same browser.</p></li>
</ol>
</section>`
}

function forPages(type: CounterType, address: string): Html {
  const settings = type.name === 'page_view' ? '' : ` data-type="${type.name}"`
  const image = `${address}/hit.gif?key=%2Fabout&amp;type=${type.name}`
  const code = `<script defer src="${address}/slotted.js"${settings}></script>\n<noscript><img src="${image}" referrerpolicy="origin" alt=""></noscript>`
  return html`<li><p>Paste this into your pages, before <code>&lt;/body&gt;</code>. The image counts visitors without JavaScript; set its <code>key</code> to the path of the page.</p>
${copyable('first-run-script', 'Script and image', code, 4)}</li>
<li><p>Open one of the pages. To check first whether its hits count, enter its address:</p>
${checkForm(html`<input type="hidden" name="type" value="${type.name}">`)}</li>`
}

function forDownloads(type: CounterType, address: string): Html {
  const key = 'app-1.2.0.tgz'
  return html`<li><p>Link to your files through this Worker. This link redirects to <code>${destinationOf(type.redirectTo!, key)}</code>.</p>
${copyable('first-run-download', 'Link to a download', `<a href="${address}/d/${type.name}/${key}">Download</a>`, 2)}</li>
<li><p>Follow the link.</p></li>`
}
