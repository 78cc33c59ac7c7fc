import { html } from 'hono/html'
import { document, type Html, type Site } from './layout.ts'

/** The page on which a browser learns whether its hits count. @param asked what its fields contain at first */
export function checkPage(at: Site, asked: { type: string; page: string }): Html {
  return document(
    'Does this browser count?',
    at,
    html`<main class="sign-in" id="main" data-page="check">
<h1>Does this browser count?</h1>
<p>The button sends a hit from this browser through every check. The hit is not counted.</p>
<noscript><p class="notice">This page needs JavaScript.</p></noscript>
${checkForm(
  html`<label for="check-type">Type</label>
<input id="check-type" name="type" value="${asked.type}" required spellcheck="false" autocapitalize="off">`,
  asked.page,
)}
</main>`,
  )
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
