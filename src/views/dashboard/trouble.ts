import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Migration } from '../../database/migrations.ts'
import { PROBLEMS, type Problem } from '../../service/problem.ts'
import { visibleKey } from '../../visible-key.ts'
import { copyable, document, type Html, type Site, signedInPage, type Viewer } from './layout.ts'

/** A problem, for people. @param requestId that under which it was logged; `null`: it was not */
export function troublePage(at: Site, { code, detail, errors }: Problem, requestId: string | null): Html {
  const title = PROBLEMS[code]
  return document(
    title,
    at,
    html`<main class="sign-in" id="main">
<h1>${title}</h1>
<p>${detail}</p>
${errors.length === 0 ? '' : html`<ul>${errors.map(({ field, message }) => html`<li><code>${field}</code> ${message}</li>`)}</ul>`}
<p><a href="${at.base}/">Go to the start page</a></p>
${requestId === null ? '' : html`<p class="hint">${code}, request ${requestId}</p>`}
</main>`,
  )
}

/** The answer to the address of a type that is not one of the viewer's. @param isHidden whether it is configured */
export function noTypePage(viewer: Viewer, name: string, isHidden: boolean): Html {
  if (!isHidden) {
    const text = html`Nothing is counted as “<bdi>${visibleKey(name)}</bdi>”. Choose a type above.`
    return signedInTrouble(viewer, 'There is no such type', text)
  }
  const text = 'Choose a type above, or sign out and sign in with another token.'
  return signedInTrouble(viewer, 'Your token may not see this type', text)
}

/** The answer to the address of a counter without a key. */
export function noCounterPage(viewer: Viewer): Html {
  const text = 'The address of a counter has its type and its key. Choose a type above.'
  return signedInTrouble(viewer, 'There is no such counter', text)
}

/** The answer to those who are signed in and ask for a public page that a type does not have. */
export function noPublicPage(viewer: Viewer, type: CounterType): Html {
  const { name, title } = type
  const text = html`${title} has a public page only with <code>COUNTERS.${name}.public_page</code>. You can see it <a href="${viewer.base}/?type=${encodeURIComponent(name)}">in the dashboard</a>.`
  return signedInTrouble(viewer, 'This page is not public', text)
}

function signedInTrouble(viewer: Viewer, title: string, text: Html | string): Html {
  return signedInPage(title, viewer, '', html`<main id="main">\n<h1>${title}</h1>\n<p>${text}</p>\n</main>`)
}

/** The page that makes the tables. */
export function setupPage(viewer: Viewer, pending: readonly Migration[]): Html {
  const mayMake = viewer.ofAllTypes && viewer.mayChange
  return signedInPage(
    'Tables',
    viewer,
    '',
    html`<main id="main" data-page="setup">
<h1>The database is not ready</h1>
<section class="card" aria-labelledby="tables-title">
<div class="row card-head"><h2 id="tables-title">Tables</h2></div>
<p>Tables are missing, or from an older version. Until they are made, no hit is counted. A lost table is made again, without its rows. Other tables stay as they are.</p>
${
  mayMake
    ? html`<p><button id="make-tables" class="primary">Make the tables</button></p>
<p class="hint" id="setup-message" role="status"></p>`
    : html`<p>Sign in with a token that may manage all types, such as <code>API_TOKEN</code>, to make them here.</p>`
}
</section>
<section class="card" id="deploy-request" aria-labelledby="deploy-request-title" hidden>
<div class="row card-head"><h2 id="deploy-request-title">With a deploy request</h2></div>
<ol>
<li>In PlanetScale’s dashboard, make a development branch of this one: <i>Branches, New branch</i>.</li>
<li>Run these statements on the new branch.</li>
<li>Open a deploy request for it, and deploy it.</li>
<li>Come back and press the button again. It then only records what is there.</li>
</ol>
${copyable('statements', 'Statements', `${pending.flatMap(({ statements }) => statements).join(';\n\n')};`, 12)}
</section>
</main>`,
  )
}
