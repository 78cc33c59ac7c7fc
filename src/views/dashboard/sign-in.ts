import { html } from 'hono/html'
import { document, type Html } from './page.ts'

/** The page on which to sign in. */
export interface SignIn {
  /** Path to go on to. */
  next: string
  /** What went wrong the last time. */
  message?: string
}

export function signInPage({ next, message }: SignIn): Html {
  return document(
    'Sign in · Slotted Counter',
    html`<main class="sign-in" id="main">
<h1>Slotted Counter</h1>
<form method="post" action="/login">
<input name="user" value="API token" autocomplete="username" hidden>
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus spellcheck="false"${
      message === undefined ? '' : html` aria-invalid="true" aria-describedby="token-message"`
    }>
${message === undefined ? '' : html`<p class="error" id="token-message" role="alert">${message}</p>`}
<input type="hidden" name="next" value="${next}">
<button class="primary">Sign in</button>
</form>
<p class="hint">It is the secret <code>API_TOKEN</code> of this Worker; <code>npm start</code> prints it. You stay signed in for 12 hours.</p>
</main>`,
  )
}
