import * as v from 'valibot'
import type { FieldError } from '../schemas.ts'
import type { Bindings } from './bindings.ts'
import { type CounterType, counterType, DEFAULT_WINDOWS, dedupeSeconds, folder, titleOf } from './counter-types.ts'
import { readSetting } from './mistakes.ts'

/** What people see of a type. A mistake in it is no reason to count nothing. */
const SHOWN = ['title', 'unit', 'unit_one', 'keys', 'url', 'public_page']
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/

/**
 * Reads `COUNTERS`. A type is left out if a mistake concerns what it counts: counts must not go where nobody wanted them. What is
 * only shown has its default instead. `COUNTERS` has a default only beside `SITES`: without both, variables are probably
 * missing, such as those that environments of wrangler do not inherit.
 * @param sites the default of `allowed_origins`
 */
export function readTypes({ COUNTERS, SITES }: Bindings, sites: readonly string[], mistakes: FieldError[]) {
  const tables = tablesOf(COUNTERS === undefined && SITES !== undefined ? DEFAULT_COUNTERS : COUNTERS, mistakes)
  const types = new Map<string, CounterType>()
  /** What is wrong with those that are left out. */
  const stopped = new Map<string, readonly FieldError[]>()
  /** Every `redirect_to` and `dedupe_seconds` that can be read. */
  const redirects = new Map<string, string>()
  const windows = new Map<string, number>()
  /** Whether no mistake hides another window. */
  let areWindowsCertain = tables.length > 0
  const owners = new Map<unknown, string>()
  for (const [name, settings] of tables) {
    const wrong: FieldError[] = []
    if (!NAME.test(name)) {
      wrong.push({ field: `COUNTERS.${name}`, message: 'must be letters, digits, "_" and "-", starting with a letter' })
    }
    const withSites = isTable(settings) ? { allowed_origins: sites, ...settings } : settings
    const type = readSetting(counterType, withSites, `COUNTERS.${name}`, wrong, null)
    const stopping = () => wrong.filter(({ field }) => !SHOWN.includes(field.slice(`COUNTERS.${name}.`.length)))
    const { record_type, redirect_to, dedupe_seconds } = (settings ?? {}) as Record<string, unknown>
    const window = v.safeParse(dedupeSeconds, dedupe_seconds)
    if (window.success) windows.set(name, window.output)
    else if (stopping().length > 0) areWindowsCertain = false
    const owner = owners.get(record_type)
    if (owner !== undefined) {
      wrong.push(sameRecordType(name, owner))
      // Counts of which type it has cannot be known.
      const ofOwner = sameRecordType(owner, name)
      types.delete(owner)
      stopped.set(owner, [...(stopped.get(owner) ?? []), ofOwner])
      mistakes.push(ofOwner)
    } else if (record_type !== undefined) owners.set(record_type, name)
    const redirect = v.safeParse(folder, redirect_to)
    if (redirect.success) redirects.set(name, redirect.output)
    if (stopping().length > 0 || type === null) stopped.set(name, stopping())
    else types.set(name, { name, ...type, title: type.title ?? titleOf(name) })
    mistakes.push(...wrong)
  }
  return { types, declared: new Set(tables.map(([name]) => name)), stopped, redirects, windows, areWindowsCertain }
}

function sameRecordType(name: string, other: string): FieldError {
  return { field: `COUNTERS.${name}.record_type`, message: `is also that of ${other}: every type needs its own` }
}

function tablesOf(counters: unknown, mistakes: FieldError[]): [name: string, settings: unknown][] {
  const wrong = (message: string) => {
    mistakes.push({ field: 'COUNTERS', message })
    return []
  }
  if (counters === undefined) {
    return wrong('is missing: set a table for each type, [vars.COUNTERS.<name>], or SITES for the default types')
  }
  if (!isTable(counters)) return wrong('must hold a table for each type: [vars.COUNTERS.<name>]')
  const tables = Object.entries(counters)
  return tables.length > 0 ? tables : wrong('must name at least one type')
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Seconds of the longest window in which a visitor counts once. */
export function longestOf(windows: ReadonlyMap<string, number>): number {
  return Math.max(DEFAULT_WINDOWS.download, ...windows.values())
}

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

/** What is counted with `SITES` alone: then every variable is a string, as the form of the deploy button needs it. */
export const DEFAULT_COUNTERS = {
  page_view: { record_type: 1, title: 'Page views', unit: 'views', unit_one: 'view', keys: 'pages', public: true },
  download: {
    record_type: 2,
    title: 'Downloads',
    unit: 'downloads',
    unit_one: 'download',
    keys: 'files',
    public: true,
  },
}
