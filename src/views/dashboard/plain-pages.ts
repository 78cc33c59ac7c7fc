import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import type { Migration } from '../../database/migrations.ts'
import { PROBLEMS, type Problem } from '../../service/problem.ts'
import { copyable, document, type Html, keyText, type Site, signedIn, type Viewer } from './layout.ts'

export interface SignIn extends Site {
  /** The path to open after signing in, without the base path. */
  next: string
  /** The error of the previous attempt. */
  message?: string
  /** Whether the database lacks tables. */
  notReady?: boolean
  /** Whether the browser was signed in before. */
  ended?: boolean
  /** The type of the requested page, if it has a page for everybody. */
  publicType?: CounterType
}

export function signInPage({ next, message, notReady, ended, publicType, ...at }: SignIn): Html {
  const { base, site } = at
  const invalid = message === undefined ? '' : html` aria-invalid="true" aria-describedby="token-message"`
  const content = html`<h1>${site}</h1>
${notReady ? notice('The database does not have the tables that this version needs. Sign in to make them.') : ''}
${ended ? notice('Your session has ended. Sign in again.') : ''}
<form method="post" action="${base}/login">
<input name="user" value="API token" autocomplete="username" hidden>
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus spellcheck="false"${invalid}>
${message === undefined ? '' : html`<span class="danger" id="token-message" role="alert">${message}</span>`}
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="zone">
<button class="primary">Sign in</button>
</form>
<p class="hint">Use the Worker’s secret <code>API_TOKEN</code> (<code>npm start</code> and <code>npm run dev</code> print it; <code>serve</code> reads it from its environment) or a named token with the scope <code>read</code> or <code>manage</code>. You stay signed in for 12 hours.</p>
${publicType === undefined ? '' : html`<p class="hint">Without a token, you can see <a href="${base}/stats/${encodeURIComponent(publicType.name)}">the public page of ${publicType.title}</a>.</p>`}`
  return narrowPage('Sign in', at, content)
}

/** The page on which a browser learns whether its hits count. @param asked what its fields contain at first */
export function checkPage(at: Site, { type, page }: { type: string; page: string }): Html {
  const typeField = html`<label for="check-type">Type</label>
<input id="check-type" name="type" value="${type}" required spellcheck="false" autocapitalize="off">`
  const title = 'Do hits from this browser count?'
  const content = html`<h1>${title}</h1>
<p>The button runs a hit from this browser through every check without counting it.</p>
<noscript>${notice('This page needs JavaScript.')}</noscript>
${checkForm(typeField, page)}`
  return narrowPage(title, at, content)
}

/** A form that asks whether hits of a page count. `src/browser/dashboard/pages.ts` sends it. @param type the field of the type */
export function checkForm(type: Html, page = ''): Html {
  return html`<form id="check">
${type}
<label for="check-page">Address of a page</label>
<div class="row"><input id="check-page" name="page" value="${page}" inputmode="url" placeholder="https://example.com/about" spellcheck="false" autocapitalize="off">
<button>Check</button></div>
</form>
<div id="check-answer" role="status"></div>`
}

/** A problem, for people. @param requestId that under which it was logged; `null`: it was not */
export function troublePage(at: Site, problem: Problem, requestId: string | null): Html {
  return narrowPage(PROBLEMS[problem.code].title, at, trouble(at, problem, requestId))
}

/** The main part of a signed-in page whose numbers cannot be read. The script reads the paragraph, and asks again. */
export function troubleMain(at: Site, problem: Problem, requestId: string | null): Html {
  return html`<main id="main" data-page="trouble">\n${trouble(at, problem, requestId)}\n</main>`
}

function trouble({ base }: Site, { code, detail, errors }: Problem, requestId: string | null): Html {
  return html`<h1>${PROBLEMS[code].title}</h1>
<p id="trouble">${detail}</p>
${errors.length === 0 ? '' : html`<ul>${errors.map(({ field, message }) => html`<li><code>${field}</code> ${message}</li>`)}</ul>`}
<p><a href="${base}/">Go to the start page</a></p>
${requestId === null ? '' : html`<p class="hint">${code}, request ${requestId}</p>`}`
}

function narrowPage(title: string, at: Site, content: Html): Html {
  return document(title, at, html`<main class="sign-in" id="main">\n${content}\n</main>`)
}

const notice = (text: string) => html`<p class="notice">${text}</p>`

/** The answer to the address of a type that is not one of the viewer's. @param isHidden whether it is configured */
export function noTypePage(viewer: Viewer, name: string, isHidden: boolean): Html {
  const [title, text] = isHidden
    ? ['Your token does not cover this type', 'Choose a type above, or sign out and sign in with another token.']
    : ['There is no such type', html`No type is named “${keyText(name)}”. Choose a type above.`]
  return mainPage(viewer, title, text)
}

/** The answer to the address of a counter without a key. */
export const noCounterPage = (viewer: Viewer) =>
  mainPage(viewer, 'There is no such counter', 'The address must name a type and a key. Choose a type above.')

/** The answer to those who are signed in and ask for a public page that a type does not have. */
export function noPublicPage(viewer: Viewer, { name, title }: CounterType): Html {
  const text = html`To publish ${title}, set <code>COUNTERS.${name}.public_page = true</code>. You can see the counts <a href="${viewer.base}/?type=${encodeURIComponent(name)}">in the dashboard</a>.`
  return mainPage(viewer, 'This page is not public', text)
}

/** The page that makes the tables. */
export function setupPage(viewer: Viewer, pending: readonly Migration[]): Html {
  const mayMake = viewer.ofAllTypes && viewer.mayChange
  const main = html`<main id="main" data-page="setup">
<h1>The database is not ready</h1>
<section class="card" aria-labelledby="tables-title">
<div class="row card-head"><h2 id="tables-title">Tables</h2></div>
<p>Tables are missing or from an older version, so no hits are counted. A lost table is made again, empty. Other tables keep their rows.</p>
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
<li>In PlanetScale’s dashboard, create a development branch from this branch: <i>Branches, New branch</i>.</li>
<li>Run these statements on the new branch.</li>
<li>Open a deploy request for it, and deploy it.</li>
<li>Return to this page and press the button again. It then only records the version of the tables.</li>
</ol>
${copyable('statements', 'Statements', `${pending.flatMap(({ statements }) => statements).join(';\n\n')};`, 12)}
</section>
</main>`
  return document('Tables', viewer, signedIn(viewer, '', main))
}

function mainPage(viewer: Viewer, title: string, text: Html | string): Html {
  const main = html`<main id="main">\n<h1>${title}</h1>\n<p>${text}</p>\n</main>`
  return document(title, viewer, signedIn(viewer, '', main))
}
