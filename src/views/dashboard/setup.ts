import { html } from 'hono/html'
import { copyable, type Html, signedInPage, type Viewer } from './layout.ts'

/** The page that makes missing tables. */
export function setupPage(viewer: Viewer, missing: readonly string[]): Html {
  const empty = missing.includes('table slotted_counters')
  const lack = empty ? 'The database has no tables yet.' : 'The tables are from an older version, or some are missing.'
  const mayMake = viewer.ofAllTypes && viewer.mayChange
  return signedInPage(
    'Tables',
    viewer,
    '',
    html`<main id="main" data-page="setup">
<h1>The database is not ready</h1>
<section class="card" aria-labelledby="tables-title">
<div class="row card-head"><h2 id="tables-title">Tables</h2></div>
<p>${lack} Until it has everything, no hit is counted. Tables of other programs in the same database stay as they are.</p>
<details><summary class="hint">What is missing</summary><ul>${missing.map((thing) => html`<li>${thing}</li>`)}</ul></details>
${
  mayMake
    ? html`<p><button id="make-tables" class="primary">Make the tables</button></p>
<p class="hint" id="setup-message" role="status"></p>`
    : html`<p>Sign in with a token that may manage all types, such as <code>API_TOKEN</code>, to make them here.</p>`
}
</section>
${mayMake ? DEPLOY_REQUEST : ''}
</main>`,
  )
}

const DEPLOY_REQUEST = html`<section class="card" id="deploy-request" aria-labelledby="deploy-request-title" hidden>
<div class="row card-head"><h2 id="deploy-request-title">With a deploy request</h2></div>
<ol>
<li>In PlanetScale’s dashboard, make a development branch of this one: <i>Branches, New branch</i>.</li>
<li>Run these statements on the new branch.</li>
<li>Open a deploy request for it, and deploy it.</li>
<li>Come back and press the button again. It then only records what is there.</li>
</ol>
${copyable('statements', 'Statements', '', 12)}
</section>`
