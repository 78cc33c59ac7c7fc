import type { FieldError } from '../field-errors.ts'

const RULE = 'must be sites such as "https://blog.example, https://shop.example", without paths'

/**
 * Reads `SITES`, the default of `allowed_origins`: text, because people type it into a form. Capitals and slashes at the end are
 * accepted. A wrong site is left out.
 */
export function readSites(sites: unknown, mistakes: FieldError[]): string[] {
  if (sites === undefined) return []
  const origins = typeof sites === 'string' ? sites.split(/[\s,]+/).filter((site) => site !== '') : ['']
  const read = origins.map(originOf)
  if (read.includes(null)) mistakes.push({ field: 'SITES', message: RULE })
  return read.filter((origin) => origin !== null)
}

function originOf(site: string): string | null {
  if (site === '*') return site
  if (!URL.canParse(site)) return null
  const { origin, href } = new URL(site)
  return /^https?:/.test(origin) && href === `${origin}/` ? origin : null
}
