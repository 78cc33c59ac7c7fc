import { html } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { TILES } from '../../periods.ts'
import { shownCompanion } from '../../service/page-numbers.ts'
import { withUnit } from '../../units.ts'
import { visibleKey } from '../../visible-key.ts'
import { showCount } from '../badge.ts'
import { showDays } from '../chart-svg.ts'
import { document, type Html, type Site } from './layout.ts'
import { numbersOf, ranking, unitOf } from './shown-numbers.ts'

/** The numbers of 30 days in UTC, as in JSON. */
interface PublicNumbers {
  figures: Record<'today' | '7d' | '30d' | '12m', { count: bigint }>
  total: bigint
  chart: { first: string; last: string; points: readonly { count: bigint | null }[] }
  list: { counters: readonly { key: string; page?: string; count: bigint }[] }
  /** What the last check of all sums found, if that is known. */
  checked: string | null
}

interface PublicPage extends Site {
  origin: string
  type: CounterType
  /** The types with a public page. */
  all: readonly CounterType[]
  /** `null`: they could not be read. */
  numbers: PublicNumbers | null
}

/** The page of a type for everybody: its figures, its chart and its list. Without scripts, those of 30 days in UTC. */
export function publicPage({ origin, type, all, numbers, ...at }: PublicPage): Html {
  const { base, site } = at
  const path = (name: string) => `${base}/stats/${encodeURIComponent(name)}`
  const links = all.map(
    ({ name, title }) =>
      html`<a data-keeps-period href="${path(name)}"${name === type.name ? html` aria-current="page"` : ''}>${title}</a>`,
  )
  return document(
    type.title,
    at,
    html`<a class="skip" href="#main">Skip to content</a>
<header class="row top"><span class="brand">${site}</span>
${all.length > 1 ? html`<nav class="row" aria-label="Types">${links}</nav>` : ''}</header>
<main id="main" data-page="public" data-type="${type.name}"${unitOf(type)} data-numbers="${path(type.name)}/numbers">
<h1>${type.title}</h1>
<noscript>${withoutScripts(base, type, numbers)}</noscript>
<div class="scripted">
${numbersOf(type, shownCompanion(type, all, 'type'), { days: false })}
<section class="card" aria-labelledby="top-title">
<div class="row card-head"><h2 id="top-title">${capitalized(type.keys)}</h2></div>
${ranking(type, shownCompanion(type, all, 'counter'))}
</section>
</div>
<p class="hint" id="as-of"></p>
</main>`,
    { head: linkPreview(`${origin}${path(type.name)}`, site, type, numbers) },
  )
}

/** What applications show of a link to the page: https://ogp.me. */
function linkPreview(address: string, site: string, type: CounterType, numbers: PublicNumbers | null): Html {
  const { title, unit, keys } = type
  const month = numbers?.figures['30d'].count ?? 0n
  const about =
    numbers === null
      ? `How many ${unit} were counted each day, and for which ${keys}.`
      : `${withUnit(exact(month), month, type)} in 30 days, ${exact(numbers.total)} in all.`
  return html`<meta name="description" content="${about}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site}">
<meta property="og:title" content="${title} · ${site}">
<meta property="og:description" content="${about}">
<meta property="og:url" content="${address}">`
}

function withoutScripts(base: string, { name, unit, keys }: CounterType, numbers: PublicNumbers | null): Html {
  if (numbers === null) return html`<p class="notice">The numbers cannot be read now. Load this page again later.</p>`
  const { figures, total, chart, list, checked } = numbers
  const counts: Record<string, { count: bigint }> = { ...figures, all: { count: total } }
  const tiles = Object.entries(TILES).map(
    ([name, text]) => html`<div><dt>${text}</dt> <dd><b>${exact(counts[name]!.count)}</b></dd></div>`,
  )
  const rows = list.counters.map(({ key, page, count }) => {
    const text = html`<bdi>${visibleKey(key)}</bdi>`
    const cell = page === undefined ? text : html`<a href="${page}" rel="noreferrer">${text}</a>`
    return html`<tr><th scope="row">${cell}</th><td class="number">${exact(count)}</td></tr>\n`
  })
  return html`<dl class="row">${tiles}</dl>
<p><img src="${base}/chart/${encodeURIComponent(name)}.svg" alt="Chart: ${unit}, ${showDays(Date.parse(chart.first), Date.parse(chart.last))}" width="640" height="200"></p>
<table><thead><tr><th scope="col">${capitalized(keys)}</th><th scope="col" class="number">30 days</th></tr></thead><tbody>
${rows}</tbody></table>
<p class="hint">Days begin at midnight in UTC. ${checked}</p>`
}

const exact = (count: bigint) => showCount(count)
