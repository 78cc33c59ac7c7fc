import * as z from 'zod/mini'
import { type KeyedType, MAX_KEY_BYTES, SPELLINGS } from '../counters/keys/counter-address.ts'
import { MAX_PATTERN_LENGTH, MAX_PATTERNS, type NewKeyRule } from '../counters/keys/new-keys.ts'
import type { FieldError } from '../field-errors.ts'
import { flag, integer, orNull, table } from './fields.ts'

/** How people see a counter type. */
export interface Presentation {
  /** What the type counts, as a heading: "Page views". */
  title: string
  /** What one of its counts is, in the plural: "views". */
  unit: string
  /** The beginning of the addresses that its keys are pages of; `null`: keys lead nowhere. See `pageOf`. */
  url: string | null
}

/** The unit of types that name none. */
const UNIT = 'counts'
const MAX_TITLE = 60
const MAX_UNIT = 30

const text = (max: number) => {
  const message = `must be text of 1 to ${max} characters, without line breaks and without spaces around it`
  const fits = (value: string) =>
    value !== '' && value === value.trim() && [...value].length <= max && !/[\p{Cc}\p{Cs}]/u.test(value)
  return z.string({ error: message }).check(z.refine(fits, message))
}

const URL_RULE =
  'must be where the keys are pages: "https://example.com" or "https://example.com/items/", as browsers write it, without ? and #'

/** A URL as browsers write it, so that what is appended to it can be told from it. */
function isBeginning(value: string): boolean {
  if (!URL.canParse(value) || /[?#]/.test(value)) return false
  const { protocol, origin, href, username } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && (href === value || origin === value)
}

/** The settings of a type that concern people only. The default of a title is a name that people can read. */
export const presentation = {
  title: z.optional(text(MAX_TITLE)),
  unit: z._default(text(MAX_UNIT), UNIT),
  url: orNull(z.string({ error: URL_RULE }).check(z.refine(isBeginning, URL_RULE))),
}

/** A type's name as a title: "page_view" is "Page view". */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * The page that a key stands for, for links. Keys come from strangers: one that would lead to another site has no page.
 *
 * @param url the type's
 */
export function pageOf(url: string | null, key: string): string | null {
  if (url === null) return null
  const page = url + key
  return URL.canParse(page) && new URL(page).href.startsWith(`${new URL(url).origin}/`) ? page : null
}

/** Seconds in which a visitor's downloads of a file are one, unless the type says otherwise: a double click (COUNTER Code of Practice, release 5, section 7.2). */
export const DOWNLOAD_WINDOW_SECONDS = 30

/** One kind of thing that is counted: a table `[vars.COUNTERS.<name>]`. */
export interface CounterType extends KeyedType, NewKeyRule, Presentation {
  /** Whether automatic clients count, too. */
  countBots: boolean
  /** Whether browsers count that a program drives, and that say so (`navigator.webdriver`). */
  countAutomated: boolean
  /** Whether to leave out visitors whose browser asks not to be tracked (DNT, Global Privacy Control). */
  respectDoNotTrack: boolean
  name: string
  /** Whether counts may be read without the token. */
  public: boolean
  /** Whether there is a page for everybody with its counts. Only of public types. */
  publicPage: boolean
  /** Origins whose pages may count with `POST /hit`; `*` means every client. If empty, only the API counts. */
  allowedOrigins: readonly string[]
  /** Slots that each counter is spread over; `null` gives every writer its own slot. */
  slots: number | null
  /** Seconds within which a visitor counts once, 0 for every time; `null` leaves it to the route. */
  dedupeSeconds: number | null
  /** Whether there are badges that count those who look at them. */
  countingBadge: boolean
  /** The name of a type in which the same visits count, too, once per visitor and window; `null`: there is none. */
  also: string | null
  /** Prefixes of keys whose sums everybody may read, if the type is public, and which the dashboard offers. */
  prefixes: readonly string[]
  /** Where the downloads of `/d` are: a URL, or a path on this host, with a trailing slash; `null`: there are none. */
  redirectTo: string | null
}

const ORIGIN_RULE =
  'must be an origin such as "https://example.com" (scheme and host, no path, no trailing slash), or "*"'

const origin = z
  .string({ error: 'must be an origin such as "https://example.com", or "*"' })
  .check(z.refine((value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value), ORIGIN_RULE))

const REDIRECT_RULE =
  'must be where the files are: "https://files.example.com/dist/", or a path on this host such as "/files/", with a slash at its end and no ? or #'

/** A URL whose path is a folder, written as browsers normalize it. So a key appended to it cannot change its meaning. */
const folder = z.string({ error: REDIRECT_RULE }).check(
  z.refine((value) => {
    const host = 'http://host.invalid'
    const isPath = value.startsWith('/')
    if (!value.endsWith('/') || /[?#]/.test(value) || !URL.canParse(value, host)) return false
    const { protocol, href } = new URL(value, host)
    return (protocol === 'https:' || protocol === 'http:') && href === (isPath ? host + value : value)
  }, REDIRECT_RULE),
)

/** Keys that public requests may bring into being in a minute, by default. */
const NEW_KEYS_PER_MINUTE = 120
const NEW_KEYS_RULE = `must be "any", "known", or a list of 1 to ${MAX_PATTERNS} patterns such as "/blog/*"`
const MAX_PER_MINUTE = 1_000_000
const PER_MINUTE_RULE = `must be a whole number from 0 to ${MAX_PER_MINUTE}, or "unlimited"`

const pattern = z
  .string({ error: 'must be a pattern such as "/blog/*"' })
  .check(
    z.refine(
      (value) => value !== '' && value.length <= MAX_PATTERN_LENGTH,
      `must have 1 to ${MAX_PATTERN_LENGTH} characters`,
    ),
  )

/** As many as the dashboard can show. */
const MAX_PREFIXES = 16
const PREFIXES_RULE = `must be a list of at most ${MAX_PREFIXES} different beginnings of keys, such as "app-"`

const prefix = z
  .string({ error: PREFIXES_RULE })
  .check(
    z.refine(
      (text) =>
        text !== '' &&
        text.isWellFormed() &&
        !text.includes('\0') &&
        new TextEncoder().encode(text).length <= MAX_KEY_BYTES,
      `must have 1 to ${MAX_KEY_BYTES} bytes of UTF-8, without NUL`,
    ),
  )

const QUOTED = SPELLINGS.map((name) => `"${name}"`).join(', ')
const LOWER_CASE_RULE = 'must be in lower case: with "letter_case", every key is'

const counterType = table({
  record_type: integer(1, 65_535),
  ...presentation,
  key: z._default(z.enum(['string', 'integer'], { error: 'must be "string" or "integer"' }), 'string'),
  same_key: z._default(
    z.array(z.enum(SPELLINGS, { error: `must be one of ${QUOTED}` }), { error: `must be a list of ${QUOTED}` }),
    [],
  ),
  new_keys: z._default(
    z.union(
      [
        z.enum(['any', 'known']),
        z.array(pattern).check(z.minLength(1, NEW_KEYS_RULE), z.maxLength(MAX_PATTERNS, NEW_KEYS_RULE)),
      ],
      { error: NEW_KEYS_RULE },
    ),
    'any',
  ),
  new_keys_per_minute: z.pipe(
    z._default(
      z.custom<number | 'unlimited'>(
        (value) => value === 'unlimited' || integer(0, MAX_PER_MINUTE).safeParse(value).success,
        PER_MINUTE_RULE,
      ),
      NEW_KEYS_PER_MINUTE,
    ),
    z.transform((value) => (value === 'unlimited' ? null : value)),
  ),
  public: flag,
  public_page: flag,
  allowed_origins: z._default(z.array(origin, { error: 'must be a list of origins' }), []),
  slots: orNull(integer(1, 100_000)),
  // The upper bound of PRUNING.idempotency_hours. `outlivesPruning` compares the two.
  dedupe_seconds: orNull(integer(0, 24 * 365 * 3_600)),
  counting_badge: flag,
  also: orNull(z.string({ error: 'must be the name of another type' })),
  redirect_to: orNull(folder),
  prefixes: z._default(
    z
      .array(prefix, { error: PREFIXES_RULE })
      .check(z.refine((list) => list.length <= MAX_PREFIXES && new Set(list).size === list.length, PREFIXES_RULE)),
    [],
  ),
  count_bots: flag,
  count_automated: flag,
  respect_do_not_track: flag,
}).check(
  z.superRefine((type, context) => {
    const wrong = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (type.countingBadge && !type.public) {
      wrong('counting_badge', 'needs public = true: the badge shows the count to everybody')
    }
    if (type.key === 'integer' && type.sameKey.length > 0) {
      wrong('same_key', 'is for string keys: an integer has one spelling')
    }
    if (type.publicPage && !type.public) {
      wrong('public_page', 'is for types whose counts anybody may read: set public = true too')
    }
    if (!fitsLetterCase(type.sameKey, [type.newKeys].flat())) wrong('new_keys', LOWER_CASE_RULE)
    if (!fitsLetterCase(type.sameKey, type.prefixes)) wrong('prefixes', LOWER_CASE_RULE)
  }),
)

const fitsLetterCase = (sameKey: readonly string[], texts: readonly string[]) =>
  !sameKey.includes('letter_case') || texts.every((text) => text === text.toLowerCase())

const typeName = z
  .string()
  .check(
    z.regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'must be a name of letters, digits, "_" and "-", starting with a letter'),
  )

/** `COUNTERS`: the types, by name. */
export const counterTypes = z.pipe(
  z
    .record(typeName, counterType, {
      error: ({ code, input }) => {
        if (code !== 'invalid_type') return undefined
        if (input === undefined)
          return 'is missing: add a [vars.COUNTERS.<name>] table to wrangler.toml, or pass `types` to createSlottedCounter'
        return 'must hold a table for each type: [vars.COUNTERS.<name>]'
      },
    })
    .check(z.refine((types) => Object.keys(types).length > 0, 'must name at least one type')),
  z.transform(
    (types): ReadonlyMap<string, CounterType> =>
      new Map(
        Object.entries(types).map(([name, type]) => [name, { name, ...type, title: type.title ?? titleOf(name) }]),
      ),
  ),
)

/** Types that share a record type. Looks at the raw settings, so that other mistakes do not hide this one. */
export function sharedRecordTypes(counters: unknown): FieldError[] {
  const owners = new Map<unknown, string>()
  return Object.entries(counters ?? {}).flatMap(([name, settings]) => {
    const { record_type } = (settings ?? {}) as { record_type?: unknown }
    const owner = owners.get(record_type)
    if (owner === undefined) {
      if (record_type !== undefined) owners.set(record_type, name)
      return []
    }
    const message = `is the same as that of ${owner}: every type needs one of its own`
    return [{ field: `COUNTERS.${name}.record_type`, message }]
  })
}

/** Types that name another one (`also`) which cannot count the same visits. */
export function wrongCompanions(types: ReadonlyMap<string, CounterType>): FieldError[] {
  return [...types.values()].flatMap((type) => {
    const problem = type.also === null ? null : companionProblem(type, types.get(type.also))
    return problem === null ? [] : [{ field: `COUNTERS.${type.name}.also`, message: problem }]
  })
}

function companionProblem(type: CounterType, other: CounterType | undefined): string | null {
  if (other === undefined || other === type) return 'must be the name of another type'
  const [own, named] = [`COUNTERS.${type.name}`, `COUNTERS.${other.name}`]
  if (other.also !== null) return `must name a type that names none itself: ${named}.also is set`
  // The same key must be the same record id in both.
  if (other.key !== type.key) return `must name a type with the same keys: ${own}.key and ${named}.key differ`
  if (spellingsOf(type) !== spellingsOf(other)) {
    return `must name a type with the same keys: ${own}.same_key and ${named}.same_key differ`
  }
  const seconds = other.dedupeSeconds ?? 0
  if (seconds === 0) return `must name a type that counts a visitor once: set ${named}.dedupe_seconds`
  const ownSeconds = type.dedupeSeconds ?? (type.redirectTo === null ? 0 : DOWNLOAD_WINDOW_SECONDS)
  // Otherwise a visit that is a repeat in the first type could be a new one in the other.
  if (ownSeconds > 0 && seconds % ownSeconds !== 0) {
    const of = type.dedupeSeconds === null ? `the ${ownSeconds} seconds of downloads` : `${own}.dedupe_seconds`
    return `must name a type whose windows hold whole ones of this: ${named}.dedupe_seconds must be a multiple of ${of}`
  }
  return null
}

function spellingsOf({ sameKey = [] }: CounterType): string {
  return sameKey.toSorted().join()
}

/** Seconds that the longest window lasts in which a visitor counts once. */
export function longestWindow(types: Iterable<CounterType>): number {
  return Math.max(DOWNLOAD_WINDOW_SECONDS, ...[...types].map(({ dedupeSeconds }) => dedupeSeconds ?? 0))
}

/** Types whose de-duplication window outlives the rows that recognize a visit. */
export function outlivesPruning(types: Iterable<CounterType>, idempotencyHours: number): FieldError[] {
  return [...types]
    .filter(({ dedupeSeconds }) => (dedupeSeconds ?? 0) > idempotencyHours * 3_600)
    .map(({ name }) => ({
      field: `COUNTERS.${name}.dedupe_seconds`,
      message: `must be at most ${idempotencyHours * 3_600}: visits are recognised for PRUNING.idempotency_hours, which is ${idempotencyHours}`,
    }))
}
