import { html, raw } from 'hono/html'
import type { Html } from '../../src/views/dashboard/layout.ts'
import type { DescribedOperation } from '../openapi/document.ts'
import { contentOf, type DocumentExample, operationExamples, parametersOf } from '../openapi/document-examples.ts'
import { curl } from './curl.ts'
import { withCode } from './inline-code.ts'
import { kindOf, membersOf, type NamedSchemas } from './schema.ts'

const PLACES = { path: 'in the path', query: 'in the query', header: 'header' }

/**
 * An operation, closed: its parameters, body, responses and examples. The id is inside, so that a link to it opens what is
 * around it, without a script too.
 */
export function operationSection(
  { path, method, operation }: { path: string; method: string; operation: DescribedOperation },
  { named, origin }: { named: NamedSchemas; origin: string },
): Html {
  const parameters = parametersOf(operation)
  const [body] = contentOf(operation.requestBody)
  const id = operation.operationId
  const answers = Object.entries(operation.responses)
  const wrong = answers.filter(([status]) => status >= '4')
  return html`
<details class="operation">
<summary><h3>${operation.summary}</h3> <span class="route"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></span></summary>
<div id="${id}">
<p class="about">${withCode(operation.description)}</p>
<p class="access">${accessOf(operation)} · <a href="#${id}">link to this operation</a></p>
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
<dl>${parameters.map(
    ({ name, in: place, required, description, schema }) => html`
<dt><code>${name}</code> <span class="kind">${PLACES[place]}, ${kindOf(schema, named)}${required ? '' : ', optional'}</span></dt>
<dd>${withCode(description)}</dd>`,
  )}</dl>`
}
${
  body &&
  html`<h4>Body <span class="kind">${contentOf(operation.requestBody)
    .map(([type]) => type)
    .join(' or ')}${operation.requestBody?.required ? '' : ', optional'}</span></h4>${membersOf(body[1].schema, named)}`
}
<h4>Responses</h4>
${answers.filter(([status]) => status < '4').map((each) => answer(each, named))}
${
  wrong.length > 0 &&
  html`<details>
<summary>Errors: ${wrong.map(([status]) => status).join(', ')}</summary>
${wrong.map((each) => answer(each, named))}
</details>`
}
<h4>Examples</h4>
${operationExamples(path, method, operation).map((each, index) => example(each, { origin, open: index === 0 }))}
</div>
</details>`
}

function accessOf({ security }: DescribedOperation): string {
  if (security.length === 0) return 'No token needed'
  const [scope] = security.at(-1)!.session ?? []
  return security.some((way) => Object.keys(way).length === 0)
    ? `Token (${scope}) needed unless the type is public`
    : `Token (${scope}) needed`
}

function answer([status, response]: [string, Record<string, unknown>], named: NamedSchemas): Html {
  const headers = Object.keys((response.headers as object | undefined) ?? {})
  const [content] = contentOf(response)
  const isProblem = content?.[0] === 'application/problem+json'
  return html`
<div class="answer">
<p><b class="status s${status[0]}">${status}</b> ${withCode(response.description)}
${content && html`<span class="kind">${isProblem ? html`<a href="#problems">problem document</a>` : content[0]}</span>`}
${headers.length > 0 && html`<span class="kind">· headers ${headers.join(', ')}</span>`}</p>
${content && !isProblem && membersOf(content[1].schema, named)}
</div>`
}

function example(each: DocumentExample, { origin, open }: { origin: string; open: boolean }): Html {
  const says = Object.entries(each.says)
  return html`
<details${open && raw(' open')}>
<summary>${each.summary} <span class="status s${String(each.status)[0]}">${each.status}</span></summary>
<p class="caption">curl</p>
<pre tabindex="0"><code class="curl">${curl(each, origin)}</code></pre>
${(says.length > 0 || each.answer !== undefined) && html`<p class="caption">Response</p><pre tabindex="0"><code class="answered">${says.map(([name, value]) => `${name}: ${value}\n`)}${answerText(each.answer)}</code></pre>`}
</details>`
}

/** JSON, unless the answer is text. */
function answerText(answer: unknown): string | undefined {
  return typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)
}
