import type { FieldError } from '../schemas.ts'
import {
  type CounterType,
  capitalized,
  contradictionsIn,
  OTHER_TYPE_RULE,
  TYPE_SETTINGS,
  windowOf,
} from './counter-types.ts'
import { isTable, readTable } from './read-settings.ts'

/** What people see of a type. A mistake in it is no reason to count nothing. */
const SHOWN = ['title', 'unit', 'unit_one', 'keys', 'url', 'public_page']
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/

/**
 * Reads `COUNTERS`. A type is `stopped` if a mistake concerns what it counts: counts must not go where nobody wanted them.
 * @param sites the default of `allowed_origins` @param base the base path
 */
export function readTypes(counters: unknown, sites: readonly string[], base: string, mistakes: FieldError[]) {
  const read = tablesOf(counters, mistakes).map(([name, table]) => readType(name, table, sites))
  for (const { type, wrong } of read) {
    const twin = read.find(({ type: other }) => other !== type && other.recordType === type.recordType)
    if (twin === undefined || type.recordType === undefined) continue
    const message = `is already used by ${twin.type.name}: every type needs its own`
    wrong.push({ field: `COUNTERS.${type.name}.record_type`, message })
  }
  for (const { type, wrong } of read.filter(({ type }) => type.redirectTo?.startsWith(`${base}/d/`))) {
    type.redirectTo = null
    const message = 'must not point back to /d: downloads would redirect in a loop'
    wrong.push({ field: `COUNTERS.${type.name}.redirect_to`, message })
  }
  const usable = new Map<string, UnlinkedType>()
  const stopped = new Map<string, readonly FieldError[]>()
  let areWindowsMeant = read.length > 0
  for (const { type, names, wrong, table } of read) {
    const stopping = wrong.filter(({ field }) => !SHOWN.includes(field.slice(`COUNTERS.${type.name}.`.length)))
    if (stopping.length === 0) usable.set(type.name, { type, names })
    else stopped.set(type.name, stopping)
    areWindowsMeant &&= stopping.length === 0 || Object(table).dedupe_seconds === type.dedupeSeconds
    mistakes.push(...wrong)
  }
  const all: CounterType[] = read.map(({ type }) => type)
  for (const { type, names } of read) {
    for (const setting of ['also', 'bots'] as const) {
      if (names[setting] === null || all.some(({ name }) => name === names[setting])) continue
      mistakes.push({ field: `COUNTERS.${type.name}.${setting}`, message: OTHER_TYPE_RULE })
    }
  }
  linkTypes(usable, usable.size === read.length, mistakes)
  const types = new Map<string, CounterType>([...usable].map(([name, { type }]) => [name, type]))
  return { types, stopped, all, areWindowsMeant }
}

function readType(name: string, table: unknown, sites: readonly string[]) {
  const at = `COUNTERS.${name}`
  const wrong: FieldError[] = []
  if (!NAME.test(name)) {
    wrong.push({ field: at, message: 'must consist of letters, digits, "_" and "-", and begin with a letter' })
  }
  const withSites = isTable(table) ? { allowed_origins: sites, ...table } : table
  const { title, also, bots, ...settings } = readTable(TYPE_SETTINGS, withSites, at, wrong)
  for (const [setting, message] of contradictionsIn(settings)) wrong.push({ field: `${at}.${setting}`, message })
  const type: UnlinkedType['type'] = {
    ...settings,
    name,
    title: title ?? capitalized(name.replaceAll(/[_-]+/g, ' ').trim()),
    publicPage: settings.publicPage && settings.public,
    also: [],
    bots: null,
  }
  return { type, names: { also, bots }, wrong, table }
}

function tablesOf(counters: unknown, mistakes: FieldError[]): [name: string, table: unknown][] {
  const tables = isTable(counters) ? Object.entries(counters) : []
  if (tables.length > 0) return tables
  const missing = 'is missing: set a table for each type, [vars.COUNTERS.<name>], or SITES for the default types'
  const message = isTable(counters)
    ? 'must name at least one type'
    : 'must contain a table for each type: [vars.COUNTERS.<name>]'
  mistakes.push({ field: 'COUNTERS', message: counters === undefined ? missing : message })
  return []
}

/** A type that is not linked yet, with the names in its `also` and `bots`. */
interface UnlinkedType {
  type: { -readonly [Name in keyof CounterType]: CounterType[Name] }
  names: { also: string | null; bots: string | null }
}

/** Links types with those that they name, but for links by which visits cannot be counted. @param areAll whether no type is stopped */
function linkTypes(read: ReadonlyMap<string, UnlinkedType>, areAll: boolean, mistakes: FieldError[]) {
  const all = [...read.values()]
  const isNamed = ({ type: { name } }: UnlinkedType) => all.some(({ names }) => names.also === name)
  const chainOf = ({ names }: UnlinkedType, chain: UnlinkedType[] = []): UnlinkedType[] => {
    const next = read.get(names.also ?? '')
    return next === undefined || chain.includes(next) ? chain : chainOf(next, [...chain, next])
  }
  const wrongLinks = (setting: 'also' | 'bots', problemOf: (one: UnlinkedType, other: UnlinkedType) => string | null) =>
    all.filter((one) => {
      const other = read.get(one.names[setting] ?? '')
      if (other === undefined) return false
      const message = other.type.readings
        ? `needs a type that counts: COUNTERS.${other.type.name} accepts readings only`
        : problemOf(one, other)
      if (message !== null) mistakes.push({ field: `COUNTERS.${one.type.name}.${setting}`, message })
      return message !== null
    })
  const wrongAlso = wrongLinks('also', (one, other) =>
    chainOf(one).includes(one)
      ? 'must not lead back to its own type'
      : (keysProblem(one, other) ?? windowsProblem(one.type, other.type)),
  )
  const wrongBots = wrongLinks('bots', (one, other) => {
    if (other === one) return OTHER_TYPE_RULE
    if (other.names.also !== null) return `cannot be chained: COUNTERS.${other.type.name} has \`also\` as well`
    // It would count bots among the visitors.
    if (isNamed(other)) return `must not be a type that another names in \`also\`: COUNTERS.${other.type.name}`
    return keysProblem(one, other)
  })
  for (const one of areAll ? all : []) {
    if (one.type.visitorsOf === 'page' || isNamed(one)) continue
    const message = 'needs another type that names this one in `also`'
    mistakes.push({ field: `COUNTERS.${one.type.name}.visitors_of`, message })
  }
  for (const { names } of wrongAlso) names.also = null
  for (const { names } of wrongBots) names.bots = null
  for (const one of all) {
    one.type.also = chainOf(one).map(({ type }) => type)
    one.type.bots = read.get(one.names.bots ?? '')?.type ?? null
  }
}

/** The same key must be the same record id in both, except of a site at the end of a chain. */
function keysProblem({ type }: UnlinkedType, { type: other, names }: UnlinkedType): string | null {
  const [own, others] = [type, other].map(({ sameKey }) => sameKey.toSorted().join())
  if (own === others || (other.visitorsOf === 'site' && names.also === null)) return null
  return `needs a type with the same keys: COUNTERS.${type.name}.same_key and COUNTERS.${other.name}.same_key differ`
}

function windowsProblem(type: CounterType, other: CounterType): string | null {
  const [setting, seconds] = [`COUNTERS.${other.name}.dedupe_seconds`, other.dedupeSeconds ?? 0]
  if (seconds === 0) return `needs a type that counts a visitor once: set ${setting}`
  const ownSeconds = windowOf(type)
  // Otherwise a repeat in this type could be new in the other.
  if (ownSeconds === 0 || seconds % ownSeconds === 0) return null
  const own =
    type.dedupeSeconds === null ? `the ${ownSeconds} seconds of downloads` : `COUNTERS.${type.name}.dedupe_seconds`
  return `needs nested windows: ${setting} must be a multiple of ${own}`
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
