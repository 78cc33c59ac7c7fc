import { html, raw } from 'hono/html'
import { PROBLEMS } from '../../src/service/problem.ts'
import type { Html } from '../../src/views/dashboard/layout.ts'
import type { DescribedOperation, OpenApiDocument } from '../openapi/document.ts'
import { withCode } from './inline-code.ts'
import { operationSection } from './operation.ts'
import { STYLE } from './style.ts'

/**
 * The API as a page: everything that the OpenAPI document has. It can be read without its script, which filters and copies.
 *
 * Its links are relative, so that it can be served under any base path.
 *
 * @param origin the Worker's address, for the examples
 * @param script the script's path, without a slash at its beginning
 */
export function referencePage(document: OpenApiDocument, origin: string, script: string): Html {
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
<script defer src="${script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><p><a class="brand" href="./">${title}</a> API ${version}</p><p><a href="./">Dashboard</a> <a href="openapi.json">openapi.json</a></p></header>
<div class="columns">
<nav aria-label="Chapters">
<ul>${chapters.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
<li><a href="#problems">Problems</a></li></ul>
</nav>
<main id="main">
<h1>${title} API</h1>
<p>${withCode(description)}</p>
<p>The commands below read the API token from a shell variable: <code>TOKEN=…</code>. Types for TypeScript: <code>npx openapi-typescript ${origin}/openapi.json -o counter.d.ts</code>.</p>
<form id="filter" role="search" hidden>
<label for="wanted">Find an operation</label>
<input id="wanted" type="search" autocomplete="off" autocapitalize="off" spellcheck="false">
<p id="found" role="status"></p>
</form>
${chapters.map(
  ({ name, description, operations }) => html`
<section class="chapter">
<h2 id="${name}">${name}</h2>
<p>${withCode(description)}</p>
${operations.map((each) => operationSection(each, { named: document.components.schemas, origin }))}
</section>`,
)}
<h2 id="problems">Problems</h2>
<p>Errors are problem documents (RFC 9457): <code>type</code>, <code>title</code>, <code>status</code>, <code>code</code>,
<code>detail</code> (what to do about it), <code>errors</code> (the invalid fields) and <code>requestId</code>. Use the code to tell problems apart.</p>
<dl>${Object.entries(PROBLEMS).map(
    ([code, { status, title }]) =>
      html`<dt><b class="status s${String(status)[0]}">${status}</b> <code>${code}</code></dt><dd>${title}.</dd>`,
  )}</dl>
<p id="copied" role="status"></p>
</main>
</div>
</body>
</html>`
}

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
