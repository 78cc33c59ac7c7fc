import { html } from 'hono/html'
import type { CounterType } from '../../config/counter-types.ts'
import { HIT_REASONS } from '../../hit-reasons.ts'
import type { ProblemReport } from '../../service/problem.ts'
import { visibleKey } from '../../visible-key.ts'
import { document, type Html, signedInPage, type Viewer } from './layout.ts'

/** Problems that pages have other words for than `HIT_REASONS`: here nobody wanted to count. */
const TROUBLES: Record<string, readonly [title: string, text: string]> = {
  not_found: ['There is no such page', 'The address may be mistyped, or the page is not public any more.'],
  cross_site_request: ['Nothing was done', 'Another site sent this request. Use the dashboard’s own buttons.'],
  configuration_invalid: ['The settings have errors', 'Correct them, and deploy again:'],
}

/** A problem, for people. Readers can send its code and the request's id to support. */
export function troublePage(
  base: string,
  site: string,
  { code, errors = [], requestId }: Pick<ProblemReport, 'code' | 'errors'> & { requestId: string },
): Html {
  const [title, text] = TROUBLES[code] ?? ['This did not work', sentencesOf(code)]
  return document(
    `${title} · ${site}`,
    base,
    html`<main class="sign-in" id="main">
<h1>${title}</h1>
<p>${text}</p>
${errors.length === 0 ? '' : html`<ul>${errors.map(({ field, message }) => html`<li><code>${field}</code> ${message}</li>`)}</ul>`}
<p><a href="${base}/">Go to the start page</a></p>
<p class="hint">${code}, request ${requestId}</p>
</main>`,
  )
}

function sentencesOf(code: string): string {
  if (!(code in HIT_REASONS)) return 'The Worker refused this request.'
  const { cause, advice } = HIT_REASONS[code as keyof typeof HIT_REASONS]
  return `${cause} ${advice}`
}

/**
 * The dashboard's answer to an address that it cannot show.
 * @param name the type that the address names
 * @param exists whether that type is configured
 */
export function unknownTypePage(viewer: Viewer, name: string, exists: boolean): Html {
  if (!exists) {
    return signedInTrouble(
      viewer,
      'There is no such type',
      html`Nothing is counted as “<bdi>${visibleKey(name)}</bdi>”. Choose a type above.`,
    )
  }
  return signedInTrouble(
    viewer,
    'Your token may not see this type',
    html`Choose a type above, or sign out and sign in with another token.`,
  )
}

/** The dashboard's answer to the address of a counter without a key. */
export function unknownCounterPage(viewer: Viewer): Html {
  return signedInTrouble(
    viewer,
    'There is no such counter',
    html`The address of a counter has its type and its key. Choose a type above.`,
  )
}

/** The answer to those who are signed in and ask for a public page that a type does not have. */
export function noPublicPage(viewer: Viewer, type: CounterType): Html {
  const { name, title } = type
  return signedInTrouble(
    viewer,
    'This page is not public',
    html`${title} has a public page only with <code>COUNTERS.${name}.public_page</code>. You can see it <a href="${viewer.base}/?type=${encodeURIComponent(name)}">in the dashboard</a>.`,
  )
}

function signedInTrouble(viewer: Viewer, title: string, text: Html): Html {
  return signedInPage(
    title,
    viewer,
    '',
    html`<main id="main">
<h1>${title}</h1>
<p>${text}</p>
</main>`,
  )
}
