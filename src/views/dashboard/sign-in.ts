import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import { document, type Html, type Site } from './layout.ts'

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

const NOT_READY = html`<p class="notice">The database does not have the tables that this version needs. Sign in to make them.</p>`
const ENDED = html`<p class="notice">Your session has ended. Sign in again.</p>`

export function signInPage({ next, message, notReady, ended, publicType, ...at }: SignIn): Html {
  const { base, site } = at
  const invalid = message === undefined ? '' : html` aria-invalid="true" aria-describedby="token-message"`
  return document(
    'Sign in',
    at,
    html`<main class="sign-in" id="main">
<h1>${site}</h1>
${notReady ? NOT_READY : ''}
${ended ? ENDED : ''}
<form method="post" action="${base}/login">
<input name="user" value="API token" autocomplete="username" hidden>
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus spellcheck="false"${invalid}>
${message === undefined ? '' : html`<span class="danger" id="token-message" role="alert">${message}</span>`}
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="zone">
<button class="primary">Sign in</button>
</form>
<p class="hint">The token is the Worker’s secret <code>API_TOKEN</code>, which <code>npm start</code> prints, or a named token with the scope <code>read</code> or <code>manage</code>. You stay signed in for 12 hours.</p>
${publicType === undefined ? '' : html`<p class="hint">Without a token, you can see <a href="${base}/stats/${encodeURIComponent(publicType.name)}">the public page of ${publicType.title}</a>.</p>`}
</main>`,
  )
}
