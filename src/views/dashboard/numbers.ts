import { html, raw } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Html } from './layout.ts'

/** Periods with a tile, and those among other days. */
const TILES = { today: 'Today', '7d': '7 days', '30d': '30 days', '12m': '12 months', all: 'All time' }
const OTHERS = { yesterday: 'Yesterday', month: 'This month', 'last-month': 'Last month', '90d': '90 days' }

/** Numbers in a page, so that its script need not ask for them first. */
export interface IncludedNumbers {
  /** The query for which the script takes them. */
  query: string
  numbers: unknown
}

/**
 * The periods with their figures, and the chart of the chosen one, for a type or a counter.
 * @param also the type whose figures are shown too (`shownCompanion`)
 * @param options `days`: whether other days can be chosen; `more`: what follows the chart in its card
 */
export function numbersOf(
  also: CounterType | undefined,
  { days = true, more = '' }: { days?: boolean; more?: Html | '' } = {},
): Html {
  return html`${tiles(also, days)}
<section class="card" aria-labelledby="history-days">
<div class="row card-head follows-period"><h2 id="history-days">Chart</h2> <span id="history-sum"></span> <span class="growth" id="history-change"></span></div>
<p class="hint" id="history-message" role="status"></p>
<div class="chart follows-period" id="history" role="img" aria-label="Chart"></div>
<ul class="row legend follows-period" id="history-legend"></ul>
<p class="hint" id="history-note"></p>
<details class="numbers follows-period"><summary class="hint">Show as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Numbers of the chart"><table>
<thead><tr><th scope="col">From</th><th scope="col" class="number">Count</th><th scope="col" class="number" id="history-before">Before</th></tr></thead>
<tbody id="history-rows"></tbody>
</table></div></details>
<p><button type="button" id="history-csv" class="quiet">Save as CSV</button></p>
${more}
</section>
<p class="hidden" id="announcement" role="status"></p>`
}

/** A page, then its numbers as data: a browser starts with the page while they are read. */
export async function* withNumbers(page: Html, numbers: Promise<IncludedNumbers | null>): AsyncGenerator<string> {
  const text = String(await page)
  const end = text.lastIndexOf('</body>')
  yield text.slice(0, end)
  const of = await numbers
  if (of !== null) {
    // No key may end the element.
    const json = JSON.stringify(of.numbers).replaceAll('<', '\\u003c')
    yield String(html`<script type="application/json" id="numbers" data-query="${of.query}">${raw(json)}</script>\n`)
  }
  yield text.slice(end)
}

function tiles(also: CounterType | undefined, days: boolean): Html {
  const shown = Object.entries(TILES).map(
    ([
      name,
      label,
    ]) => html`<button type="button" class="tile" value="${name}" aria-pressed="false"><span>${label}</span>
<b id="figure-${name}">–</b>${name === 'all' ? '' : html` <i class="growth" id="figure-${name}-change"></i>`}${
      also &&
      html`
<span id="also-${name}"></span>`
    }</button>`,
  )
  return html`<div class="tiles" id="period" role="group" aria-label="Period"${also && unitOf(also)}>${shown}${days ? OTHER_DAYS : ''}</div>`
}

const OTHER_DAYS = html`<button type="button" class="tile other" id="other-days" aria-pressed="false" aria-expanded="false" aria-controls="days">Other days ▾</button>
<form id="days" class="row choice" hidden>
${Object.entries(OTHERS).map(([name, label]) => html`<button type="button" value="${name}" aria-pressed="false">${label}</button>`)}
<label>From <input type="date" name="from" min="1975-01-01" required></label>
<label>to <input type="date" name="to" min="1975-01-01" required></label>
<button>Show</button>
</form>`

/** The attributes from which scripts take the unit of a type. */
export function unitOf({ unit, unitOne }: CounterType): Html {
  return html` data-unit="${unit}"${unitOne === null ? '' : html` data-unit-one="${unitOne}"`}`
}

/** The list of counters and a message, both filled by the script. */
export function ranking(): Html {
  return html`<table class="ranking follows-period"><thead><tr><th scope="col">Key</th><th scope="col" class="number count">Count</th><th scope="col" class="number share">Share</th><th scope="col" class="number growth">Change</th></tr></thead><tbody id="top"></tbody></table>
<p class="hint" id="top-message" role="status"></p>`
}
