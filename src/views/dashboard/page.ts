import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { SCRIPT, STYLE } from '../../dashboard/assets.ts'

/** What `html` makes: everything that was put into it is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Three slots, the last one fullest. */
const ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Cpath d=%22M1 10h4v5H1zM6 6h4v9H6zM11 1h4v14h-4z%22 fill=%22%232f6fdb%22/%3E%3C/svg%3E'

/** A whole document around what a page shows. */
export function document(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${STYLE.path}">
<script type="module" src="${SCRIPT.path}"></script>
</head>
<body>
${body}
</body>
</html>`
}

/**
 * A page for who is signed in: with the types to choose from, and how the roll-up stands.
 *
 * @param types names of all types
 * @param current name of the type that the page is about
 */
export function signedInPage(title: string, types: readonly string[], current: string, main: Html): Html {
  return document(
    `${title} · Slotted Counter`,
    html`<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">Slotted Counter</a>
<nav aria-label="Types">${types.map((type) => typeLink(type, type === current))}</nav>
<a href="/docs">API</a>
<form method="post" action="/logout"><button class="quiet">Sign out</button></form>
</header>
<section class="live" aria-label="Roll-up">
<p><b id="pending">–</b> pending slots</p>
<p>Roll-up: <span id="lag">–</span></p>
<button id="roll-up" class="quiet">Roll up now</button>
<p id="live-message" role="status"></p>
</section>
<ul class="notice" id="problems" role="status" hidden></ul>
<noscript><p class="notice">The numbers on this page need JavaScript.</p></noscript>
${main}`,
  )
}

function typeLink(type: string, current: boolean): Html {
  const href = `/?type=${encodeURIComponent(type)}`
  return current ? html`<a href="${href}" aria-current="true">${type}</a>` : html`<a href="${href}">${type}</a>`
}

/** One of several ways to look at something. The script listens to its buttons. */
export function choice(id: string, label: string, options: readonly (readonly [value: string, label: string])[]): Html {
  return html`<div class="choice" id="${id}" role="group" aria-label="${label}">${options.map(
    ([value, text]) => html`<button type="button" value="${value}" aria-pressed="false">${text}</button>`,
  )}</div>`
}

/** A chart and the same numbers as a table. */
export function chart(id: string): Html {
  return html`<div class="chart" id="${id}" role="img" aria-label="Chart"></div>
<p class="message" id="${id}-message" role="status"></p>
<details class="numbers"><summary>The numbers as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="The chart’s numbers"><table>
<thead><tr><th scope="col">From</th><th scope="col" class="number">Counted</th></tr></thead>
<tbody id="${id}-rows"></tbody>
</table></div></details>`
}
