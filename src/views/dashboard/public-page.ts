import { html } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import type { View } from '../../periods.ts'
import { shownCompanion, type TypeNumbers } from '../../service/page-numbers.ts'
import { withUnit } from '../../units.ts'
import { showCount } from '../english.ts'
import { currentIf, document, type Html, MESSAGES, type Site, SKIP } from './layout.ts'
import { addressOf, listOf, noteOf, numbersOf } from './shown-numbers.ts'

interface PublicPage extends Site {
  type: CounterType
  /** The types with a public page. */
  all: readonly CounterType[]
  view: View
  /** `checked`: what the last check of all sums found, if that is known */
  numbers: TypeNumbers & { checked: string | null }
}

/** The page of a type for everybody: its figures, its chart and its list. */
export function publicPage({ type, all, view, numbers, ...at }: PublicPage): Html {
  const { base, site } = at
  const pathOf = (name: string) => `${base}/stats/${encodeURIComponent(name)}`
  const path = pathOf(type.name)
  const shown = { type, also: shownCompanion(type, all, 'type'), view, numbers, path, named: {}, hasChoices: false }
  const { list, checked } = numbers
  const links = all.map(
    (each) =>
      html`<a href="${addressOf({ ...shown, path: pathOf(each.name) }, {})}"${currentIf(each === type)}>${each.title}</a>`,
  )
  const body = html`${SKIP}
<header class="row top"><span class="brand">${site}</span>
${all.length > 1 ? html`<nav class="row" aria-label="Types">${links}</nav>` : ''}</header>
${MESSAGES}
<main id="main" data-page="public" data-type="${type.name}" data-zone="${numbers.timeZone}">
<h1>${type.title}</h1>
${numbersOf(shown)}
<section class="card" aria-labelledby="list-title">
<div class="row card-head"><h2 id="list-title">${capitalized(type.keys)}</h2></div>
${listOf(shown, list, shownCompanion(type, all, 'counter'), ({ page }) => page)}
${list.counters.length === 0 ? html`<p class="hint">Nothing was counted in this period.</p>` : ''}
</section>
<p class="hint" id="as-of">${noteOf(numbers)} ${checked} <a href="${path}.atom">Weekly feed</a></p>
</main>`
  return document(type.title, at, body, linkPreview(path, type, numbers))
}

/** What applications show of a link to the page, beside its title. */
function linkPreview(path: string, type: CounterType, { figures, total }: TypeNumbers): Html {
  const month = figures['30d'].count
  const about = `${withUnit(showCount(month), month, type)} in 30 days, ${showCount(total)} in total.`
  return html`<meta name="description" content="${about}">
<link rel="alternate" type="application/atom+xml" title="${type.title}, weekly" href="${path}.atom">`
}
