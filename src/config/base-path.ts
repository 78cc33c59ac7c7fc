import * as z from 'zod/mini'
import type { Bindings } from './bindings.ts'

/** Segments that need no encoding anywhere: not in a URL, in HTML or in the name of a cookie. */
const FORM = /^(?:\/[\w-]*\w)+$/
const RULE =
  'must be a path such as "/counter": letters, digits, "_" and "-" between slashes, without a slash at its end'

/** The setting `BASE_PATH`. */
export const basePath = z.optional(
  z.string({ error: RULE }).check(z.refine((value) => value === '' || FORM.test(value), RULE)),
)

/**
 * The path under which the Worker serves everything, such as `/counter`; empty for the root. Wrong settings give the root too,
 * so that their problems can be read there.
 */
export function basePathOf({ BASE_PATH }: Bindings): string {
  return typeof BASE_PATH === 'string' && FORM.test(BASE_PATH) ? BASE_PATH : ''
}

/** What follows the base path in a path, beginning with a slash; `null` if the path is not below it. */
export function belowBasePath(base: string, path: string): string | null {
  if (base === '') return path
  if (!path.startsWith(base)) return null
  if (path.length === base.length) return '/'
  return path[base.length] === '/' ? path.slice(base.length) : null
}

/**
 * What keeps the cookies of several counters on one host apart: the base path, in their names. It is not their `Path`, because the
 * prefix `__Host-`, which keeps other hosts of the domain from setting them, needs the path `/` (RFC 6265bis, section 4.1.3.2).
 */
export function cookieSuffix(base: string): string {
  return base.replaceAll('/', '.')
}
