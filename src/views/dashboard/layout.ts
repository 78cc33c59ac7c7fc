import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { CounterType } from '../../config/counter-types.ts'
import { SCRIPT, STYLE } from '../../generated.ts'
import { ownTypes } from '../../service/start-numbers.ts'
import { visibleKey } from '../../visible-key.ts'

const SLOTS = 'M1 10h4v5H1zM6 6h4v9H6zM11 1h4v14h-4z'
const ICON = `data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Cpath d=%22${SLOTS}%22 fill=%22%232f6fdb%22/%3E%3C/svg%3E`

/** Where a page is. */
export interface Site {
  /** The Worker's base path, without a slash at its end. */
  base: string
  /** The name of the site (`SITE_NAME`). */
  site: string
}

/** An HTML document. @param more elements of the head */
export const document = (title: string, site: Site, body: Html, more: Html | '' = '') =>
  html`${headOf(title, site, more)}${bodyOf(body)}`

export const bodyOf = (body: Html) => html`<body>\n${body}\n</body>\n</html>`

/** The script reads the base path from it. */
export const headOf = (title: string, { base, site }: Site, more: Html | '' = '') => html`<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${site}</title>
${more}
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${base}${STYLE}">
<script type="module" src="${base}${SCRIPT}"></script>
</head>
`

/** The signed-in user. */
export interface Viewer extends Site {
  /** The types that the user may see. */
  types: readonly CounterType[]
  configured: readonly CounterType[]
  /** Whether these are all types. If so, the user may see the status too. */
  ofAllTypes: boolean
  mayChange: boolean
  /** Whether visits from this browser do not count. */
  marked: boolean
  /** The page to return to after changing `marked`: its path below the base path. */
  next: string
  /** The period of the page, as the query of links that keep it. */
  period: Record<string, string>
}

/** Up to when the numbers of a page are, a clock time (`null`: it has none), and what the status says is wrong. */
type State = { asOf: string | null; problems: readonly string[] }

/** The body of a page. @param current the name of its type; empty: none; `null`: the page to begin with */
export function signedIn(viewer: Viewer, current: string | null, main: Html, state?: State): Html {
  const { base, site, types, period, ofAllTypes } = viewer
  const publicType = types.find(({ name, publicPage }) => name === current && publicPage)
  const links = ownTypes(types).map(({ name, title }) => {
    const query = new URLSearchParams({ type: name, ...period })
    return html`<a href="${base}/?${query}"${currentIf(name === current)}>${title}</a>`
  })
  return html`${SKIP}
<header class="row top">
<a class="brand" href="${base}/"><svg width="16" height="16" aria-hidden="true"><path d="${SLOTS}"/></svg>${site}</a>
<nav class="row" aria-label="Types"><a href="${base}/"${currentIf(current === null)}>Today</a>${links}</nav>
${state ? stateText(state) : ''}
<button class="quiet" id="menu-button" popovertarget="menu" aria-label="Menu">⋯</button>
<div class="panel" id="menu" popover>
${publicType ? html`<p><a href="${base}/stats/${encodeURIComponent(publicType.name)}">Public page</a></p>` : ''}
<p><a href="${base}/docs">API</a></p>
${ownVisits(viewer)}
<form method="post" action="${base}/logout"><p><button class="quiet">Sign out</button></p></form>
</div>
</header>
${state && ofAllTypes ? html`<aside id="problems" aria-label="Problems"${state.problems.length === 0 ? ' hidden' : ''}><ul class="notice">${state.problems.map((text) => html`<li>${text}</li>`)}</ul></aside>` : ''}
${MESSAGES}
${main}`
}

/** Marks what is shown, among links. */
export const currentIf = (is: boolean) => (is ? raw(' aria-current="true"') : '')

/** A key, or the beginning of keys. */
export const keyText = (key: string) => html`<bdi>${visibleKey(key)}</bdi>`

export const SKIP = html`<a class="skip" href="#main">Skip to content</a>`

/** What the script says: above the numbers, and to screen readers only. */
export const MESSAGES = html`<p class="notice row" id="message" role="status" tabindex="-1"></p>
<p class="hidden" id="announcement" role="status"></p>`

/** Up to when the numbers are; a square dot tells of problems to those who cannot tell the colors apart. */
function stateText({ asOf, problems }: State): Html {
  const count = problems.length
  const [state, text] =
    count === 0 ? ['well', asOf && `up to ${asOf}`] : ['problem', count === 1 ? '1 problem' : `${count} problems`]
  return html`<p class="hint" id="state" data-state="${asOf === null ? 'unknown' : state}"><span class="dot"></span> <span>${text}</span></p>`
}

function ownVisits({ base, marked, next }: Viewer): Html {
  return html`<form method="post" action="${base}/own-visits">
<input type="hidden" name="next" id="next" value="${next}">
<input type="hidden" name="count" value="${marked ? 'yes' : 'no'}">
<p>${marked ? 'Visits from this browser do not count.' : 'Visits from this browser count.'}</p>
<button class="quiet">${marked ? 'Count this browser again' : 'Do not count this browser'}</button>
</form>`
}

/** Text to copy, with a button. `src/browser/dashboard/pages.ts` handles the click. */
export function copyable(id: string, label: string, text: string, rows: number): Html {
  return html`<label for="${id}">${label}</label>
<textarea id="${id}" readonly rows="${rows}" spellcheck="false">${text}</textarea>
<p><button type="button" class="quiet" data-copies="${id}" aria-label="Copy: ${label}">Copy</button> <span role="status"></span></p>`
}

/** The result of `html`, in which every interpolated value is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>
