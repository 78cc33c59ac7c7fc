import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Html } from '../html-type.ts'
import { firstRun } from './first-run.ts'
import { chart, choice, signedInPage, type Viewer } from './layout.ts'

const RANGES = [
  ['day', '24 hours'],
  ['month', '30 days'],
  ['year', '12 months'],
] as const

const PERIODS = [
  ['day', 'Today'],
  ['week', 'Week'],
  ['month', 'Month'],
  ['all', 'All time'],
] as const

/**
 * The page of a type: the sum of its counters, a ranking, and a search. Before anything is counted, what to do first.
 *
 * @param origin the Worker's origin
 */
export function overviewPage(viewer: Viewer, type: CounterType, origin: string): Html {
  return signedInPage(
    type.name,
    viewer,
    type.name,
    html`<main id="main" data-page="overview" data-type="${type.name}">
<h1>${type.name}</h1>
${firstRun(viewer, type, origin)}
<dl class="figures">
<div><dt>Today so far</dt><dd id="today">–</dd></div>
<div><dt id="compared-label">Until now</dt><dd><span id="compared">–</span> <small id="difference"></small></dd></div>
<div><dt>Yesterday</dt><dd id="yesterday">–</dd></div>
</dl>
<section class="card" aria-labelledby="history-title">
<div class="card-head"><h2 id="history-title">History</h2>${choice('range', 'Time range', RANGES)}</div>
${chart('history')}
</section>
<div class="columns">
<section class="card" aria-labelledby="top-title">
<div class="card-head"><h2 id="top-title">Top 10</h2>${choice('period', 'Ranking period', PERIODS)}</div>
<table class="ranking"><thead class="hidden"><tr><th scope="col">Key</th><th scope="col">Count</th></tr></thead><tbody id="top"></tbody></table>
<p class="message" id="top-message" role="status"></p>
</section>
<section class="card" aria-labelledby="search-title">
<div class="card-head"><h2 id="search-title">Find a counter</h2></div>
<form id="search" role="search">
<label for="prefix">Key or prefix</label>
<div class="row"><input id="prefix" name="prefix" type="search" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false"><button>Find</button></div>
</form>
<table class="ranking"><thead class="hidden"><tr><th scope="col">Key</th><th scope="col">Count</th></tr></thead><tbody id="found"></tbody></table>
<p class="message" id="search-message" role="status"></p>
<button id="more" class="quiet" hidden>Show more</button>
</section>
</div>
</main>`,
  )
}
