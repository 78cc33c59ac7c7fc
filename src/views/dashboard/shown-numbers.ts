import { html, raw } from 'hono/html'
import { type CounterType, capitalized } from '../../config/counter-types.ts'
import { CHART_UNITS, OTHER_PERIODS, TILES } from '../../periods.ts'
import type { Html } from './layout.ts'

/**
 * The periods with their figures, and the chart of the chosen one, for a type or a counter.
 * @param options `days`: whether other days can be chosen; `more`: what follows the chart in its card
 */
export function numbersOf(
  type: CounterType,
  also: CounterType | undefined,
  { days = true, more = '' }: { days?: boolean; more?: Html | '' } = {},
): Html {
  return html`${tiles(also, days)}
<section class="card" aria-labelledby="history-days">
<div class="row card-head follows-period"><h2 id="history-days">Chart</h2> <span id="history-sum"></span> <span class="growth" id="history-change"></span>
${chartMenu(type, also, days)}</div>
<p class="hint" id="history-message" role="status"></p>
<div class="chart follows-period" id="history" role="slider" tabindex="0" aria-label="Chart" aria-valuemin="0" aria-valuenow="0" aria-valuetext=""></div>
<ul class="row legend follows-period" id="history-legend"></ul>
<p class="hint" id="history-note"></p>
<div class="scroll follows-period" id="history-numbers" tabindex="0" role="region" aria-label="Numbers of the chart" hidden><table>
<thead><tr><th scope="col">From</th><th scope="col" class="number">Count</th><th scope="col" class="number" id="history-before">Before</th><th scope="col" class="number" id="history-also">${also?.title ?? ''}</th></tr></thead>
<tbody id="history-rows"></tbody>
</table></div>
${more}
</section>
<p class="hidden" id="announcement" role="status"></p>`
}

/** The units and the counts of the chart, its table and its file. @param units whether units can be chosen */
function chartMenu({ title }: CounterType, also: CounterType | undefined, units: boolean): Html {
  const shown = also && { '': title, also: also.title, both: 'Both' }
  return html`<div class="row chart-menu">${units ? html`<select id="chart-by" aria-label="Units of the chart" hidden>${options(CHART_UNITS)}</select>` : ''}
${shown ? html`<select id="chart-shown" aria-label="Counts in the chart" hidden>${options(shown)}</select>` : ''}
<span><button type="button" id="history-table" aria-expanded="false" aria-controls="history-numbers">Table</button> · <button type="button" id="history-csv" aria-label="Save the chart as CSV">CSV</button></span></div>`
}

/** The options of a choice: their values and texts. */
export function options(texts: Record<string, string>): Html {
  return html`${Object.entries(texts).map(([value, text]) => html`<option value="${value}">${text}</option>`)}`
}

/** Puts numbers into a page, so that its script need not ask for them. @param zone their time zone: in another one, it asks */
export function numbersElement(zone: string, numbers: string): string {
  // No key may end the element.
  const json = numbers.replaceAll('<', '\\u003c')
  return String(html`<script type="application/json" id="numbers" data-zone="${zone}">${raw(json)}</script>\n`)
}

function tiles(also: CounterType | undefined, days: boolean): Html {
  const change = (name: string) => html` <i class="growth" id="figure-${name}-change"></i>`
  const second = (name: string) => also && html`\n<span id="also-${name}"></span>`
  const tile = ([name, label]: [string, string]) =>
    html`<button type="button" class="tile" value="${name}" aria-pressed="false"><span>${label}</span>
<b id="figure-${name}">–</b>${name === 'all' ? '' : change(name)}${second(name)}</button>`
  return html`<div class="tiles" id="period" role="group" aria-label="Period"${also && unitOf(also)}>${Object.entries(TILES).map(tile)}${days ? OTHER_DAYS : ''}</div>`
}

const OTHER_DAYS = html`<button type="button" class="tile other" id="other-days" aria-pressed="false" aria-expanded="false" aria-controls="days">Other days ▾</button>
<form id="days" class="row choice" hidden>
${Object.entries(OTHER_PERIODS).map(([name, label]) => html`<button type="button" value="${name}" aria-pressed="false">${label}</button>`)}
<label>From <input type="date" name="from" min="1975-01-01" required></label>
<label>to <input type="date" name="to" min="1975-01-01" required></label>
<button>Show</button>
</form>`

/** The attributes from which scripts take the unit of a type. */
export function unitOf({ unit, unitOne }: CounterType): Html {
  return html` data-unit="${unit}"${unitOne === null ? '' : html` data-unit-one="${unitOne}"`}`
}

/** The list of counters and a message, both filled by the script. The heading above says what the keys are. */
export function ranking({ keys, unit }: CounterType, also: CounterType | undefined): Html {
  const visitors = also && html`<th scope="col" class="number also">${capitalized(also.unit)}</th>`
  return html`<table class="ranking follows-period"><thead><tr><th scope="col"><span class="hidden">${capitalized(keys)}</span></th><th scope="col" class="number small-chart">Over time</th><th scope="col" class="number count">${capitalized(unit)}</th>${visitors ?? ''}<th scope="col" class="number growth">Change</th></tr></thead><tbody id="top"></tbody></table>
<p class="hint" id="top-message" role="status"></p>`
}
