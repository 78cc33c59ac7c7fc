import { html, raw } from 'hono/html'
import type { DescribedOperation, OpenApiDocument } from '../../openapi/document.ts'
import { PROBLEMS } from '../../openapi/problem-codes.ts'
import type { Html } from '../html-type.ts'
import { withCode } from './inline-code.ts'
import { operationSection } from './operation.ts'
import { STYLE } from './style.ts'

/**
 * The API as a page without scripts: everything that the OpenAPI document has.
 *
 * @param origin the Worker's origin and base path, for links and examples
 */
export function referencePage(document: OpenApiDocument, origin: string): Html {
  const chapters = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: under(document, name),
  }))
  const { title, version, description } = document.info as Record<string, string>
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><p><a class="brand" href="${origin}/">${title}</a> API ${version}</p><p><a href="${origin}/openapi.json">openapi.json</a></p></header>
<div class="columns">
<nav aria-label="Operations">
${chapters.map(
  ({ name, operations }) => html`<p><a href="#${name}">${name}</a></p>
<ul>${operations.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}</ul>`,
)}
<p><a href="#problems">Problems</a></p>
</nav>
<main id="main">
<h1>${title} API</h1>
<p>${withCode(description)}</p>
<p>The commands below read the API token from a shell variable: <code>TOKEN=…</code>. The typed client is Hono’s:</p>
<pre tabindex="0"><code>${CLIENT(origin)}</code></pre>
${chapters.map(
  ({ name, description, operations }) => html`
<h2 id="${name}">${name}</h2>
<p>${withCode(description)}</p>
${operations.map((each) => operationSection(each, { named: document.components.schemas, origin }))}`,
)}
<h2 id="problems">Problems</h2>
<p>Errors are problem documents (RFC 9457): <code>type</code>, <code>title</code>, <code>status</code>, <code>code</code>,
<code>detail</code> (what to do about it), <code>errors</code> (the invalid fields) and <code>requestId</code>. Use the code to tell problems apart.</p>
<dl>${Object.entries(PROBLEMS).map(
    ([code, { status, title }]) =>
      html`<dt><b class="status s${String(status)[0]}">${status}</b> <code>${code}</code></dt><dd>${title}.</dd>`,
  )}</dl>
</main>
</div>
</body>
</html>`
}

const CLIENT = (origin: string) => `import { hc } from 'hono/client'
import type { App } from 'slotted-counter/client'

const client = hc<App>('${origin}', {
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\` },
})`

/** The operations of a chapter, in the document's order. */
function under(
  { paths }: OpenApiDocument,
  tag: string,
): { path: string; method: string; operation: DescribedOperation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags[0] === tag ? [{ path, method, operation }] : [],
    ),
  )
}
