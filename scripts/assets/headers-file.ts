import { createHash } from 'node:crypto'
import { STYLE } from '../reference/style.ts'

/** A day. For another week, the old script is used while it is revalidated, so that no page waits for it. */
const CHANGES = 'public, max-age=86400, stale-while-revalidate=604800'
const NEVER_CHANGES = 'public, max-age=31536000, immutable'
/** Changes only with a deployment. */
const CHANGES_SELDOM = 'public, max-age=300'

/** For all sites, including those that use `integrity` with `crossorigin`, or are isolated (COEP). */
const FOR_OTHERS = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

/** The headers by path. The platform adds `Content-Type`, `ETag`, and, for a wrong method, the status 405. */
const RULES: Record<string, Record<string, string>> = {
  '/slotted.js': { ...FOR_OTHERS, 'Cache-Control': CHANGES },
  '/slotted-*': { ...FOR_OTHERS, 'Cache-Control': NEVER_CHANGES },
  '/dashboard/*': { 'Cache-Control': NEVER_CHANGES },
  '/openapi.json': {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag',
    'Cache-Control': CHANGES_SELDOM,
  },
  '/docs': {
    'Cache-Control': CHANGES_SELDOM,
    'Content-Security-Policy': policy(),
    'Referrer-Policy': 'no-referrer',
  },
}
/** A 405 must say which methods there are, and a rule holds for every answer at its path. */
const EVERYWHERE = { 'X-Content-Type-Options': 'nosniff', Allow: 'GET, HEAD' }

/** The rules as Cloudflare reads them: https://developers.cloudflare.com/workers/static-assets/headers/ */
export function headersFile(): string {
  const rules = Object.entries(RULES).map(([path, headers]) => [
    path,
    ...Object.entries({ ...headers, ...EVERYWHERE }).map(([name, value]) => `  ${name}: ${value}`),
  ])
  return `${rules.map((lines) => lines.join('\n')).join('\n')}\n`
}

/** Allows the documentation's own style and script, and nothing else. */
function policy(): string {
  const style = createHash('sha256').update(STYLE).digest('base64')
  return `default-src 'none'; script-src 'self'; style-src 'sha256-${style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}
