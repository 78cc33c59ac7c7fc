import * as v from 'valibot'
import {
  byteLength,
  isFolder,
  MAX_KEY_BYTES,
  pageKey,
  SPELLINGS,
  spellingOf,
} from '../counters/keys/counter-address.ts'
import { MAX_PATTERN_LENGTH, MAX_PATTERNS } from '../counters/keys/new-key-budgets.ts'
import { flag, integer, orNull, table, textThat } from '../schemas.ts'

const MAX_TITLE = 60
const MAX_UNIT = 30

/** A line of text that people see. @param max its characters */
export const text = (max: number) => {
  const message = `must be text of 1 to ${max} characters, without line breaks and without spaces around it`
  const fits = (value: string) =>
    value !== '' && value === value.trim() && [...value].length <= max && !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(value)
  return textThat(message, fits)
}

const URL_RULE =
  'must be the URL to which keys are appended, such as "https://example.com" or "https://example.com/items/", in canonical form, without ? and #'

/** A URL in canonical form, so that the appended key can be separated again. */
function isBeginning(value: string): boolean {
  if (!URL.canParse(value) || /[?#]/.test(value)) return false
  const { protocol, origin, href, username } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && (href === value || origin === value)
}

/** A type's name as a title: "page_view" is "Page view". */
export function titleOf(name: string): string {
  return capitalized(name.replaceAll(/[_-]+/g, ' ').trim())
}

/** A text at the beginning of a line. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The page of a key; `null` if it would be on another site, because keys come from strangers. */
export function pageOf(url: string | null, key: string): string | null {
  if (url === null) return null
  const page = url + key
  return URL.canParse(page) && new URL(page).href.startsWith(`${new URL(url).origin}/`) ? page : null
}

/** The default `dedupe_seconds`. Of downloads: a double click (COUNTER Code of Practice, release 5, section 7.2). */
export const DEFAULT_WINDOWS = { page: 0, download: 30 }

const ORIGIN_RULE =
  'must be an origin such as "https://example.com" (scheme and host, no path, no trailing slash), or "*"'

const origin = textThat(
  ORIGIN_RULE,
  (value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value),
)

const REDIRECT_RULE =
  'must be the folder of the files: a URL such as "https://files.example.com/dist/", or a path such as "/files/", with a slash at its end and no ? or #'

/** A folder in canonical form, so that an appended key cannot change its meaning. */
export const folder = textThat(REDIRECT_RULE, (value) => {
  const host = 'http://host.invalid'
  const isPath = value.startsWith('/')
  if (!value.endsWith('/') || /[?#]/.test(value) || !URL.canParse(value, host)) return false
  const { protocol, href } = new URL(value, host)
  return (protocol === 'https:' || protocol === 'http:') && href === (isPath ? host + value : value)
})

/** Keys that public requests may create in a minute. */
const NEW_KEYS_PER_MINUTE = 120
const NEW_KEYS_RULE = `must be "any", "known", or a list of 1 to ${MAX_PATTERNS} patterns such as "/blog/*"`
const MAX_PER_MINUTE = 1_000_000
const PER_MINUTE_RULE = `must be a whole number from 0 to ${MAX_PER_MINUTE}, or "unlimited"`

const pattern = v.pipe(
  v.string('must be a pattern such as "/blog/*"'),
  v.check(
    (value) => value !== '' && value.length <= MAX_PATTERN_LENGTH,
    `must have 1 to ${MAX_PATTERN_LENGTH} characters`,
  ),
)

/** As many as the dashboard can show. */
const MAX_PREFIXES = 16
const PREFIXES_RULE = `must be a list of at most ${MAX_PREFIXES} different prefixes of keys, such as "app-"`

const prefix = v.pipe(
  v.string(PREFIXES_RULE),
  v.check(
    (text) => text !== '' && text.isWellFormed() && !text.includes('\0') && byteLength(text) <= MAX_KEY_BYTES,
    `must have 1 to ${MAX_KEY_BYTES} bytes of UTF-8, without NUL`,
  ),
)

export const OTHER_RULE = 'must be the name of another type'
const otherType = v.string(OTHER_RULE)

const QUOTED = SPELLINGS.map((name) => `"${name}"`).join(', ')
const LOWER_CASE_RULE = 'must be in lower case, as all keys are with "letter_case"'

/** The upper bound is that of PRUNING.idempotency_hours, with which `readConfig` compares it. */
export const dedupeSeconds = integer(0, 24 * 365 * 3_600)

/** The settings of a type. */
const settings = table({
  record_type: integer(1, 65_535),
  /** What is counted, as a heading: "Page views". */
  title: v.optional(text(MAX_TITLE)),
  /** The unit of its counts, in the plural: "views". */
  unit: v.optional(text(MAX_UNIT), 'counts'),
  /** The unit of the count 1: "view". */
  unit_one: orNull(text(MAX_UNIT)),
  /** What its keys are, in the plural: "pages". */
  keys: v.optional(text(MAX_UNIT), 'keys'),
  /** The URL to which keys are appended (`pageOf`); `null`: keys have no page. */
  url: orNull(textThat(URL_RULE, isBeginning)),
  same_key: v.optional(v.array(v.picklist(SPELLINGS, `must be one of ${QUOTED}`), `must be a list of ${QUOTED}`), []),
  new_keys: v.optional(
    v.union(
      [
        v.picklist(['any', 'known']),
        v.pipe(v.array(pattern), v.minLength(1, NEW_KEYS_RULE), v.maxLength(MAX_PATTERNS, NEW_KEYS_RULE)),
      ],
      NEW_KEYS_RULE,
    ),
    'any',
  ),
  new_keys_per_minute: v.pipe(
    v.optional(
      v.union([integer(0, MAX_PER_MINUTE, PER_MINUTE_RULE), v.literal('unlimited')], PER_MINUTE_RULE),
      NEW_KEYS_PER_MINUTE,
    ),
    v.transform((value) => (value === 'unlimited' ? null : value)),
  ),
  public: flag,
  /** Whether a public type has a page for everybody. */
  public_page: flag,
  /** Origins whose pages may send hits; `*`: every client. If empty, only the API counts. */
  allowed_origins: v.optional(v.array(origin, 'must be a list of origins'), []),
  /** Slots of each counter; `null`: every writer has its own. */
  slots: orNull(integer(1, 100_000)),
  /** Seconds within which a visitor counts once; 0: every time; `null`: the route's default. */
  dedupe_seconds: orNull(dedupeSeconds),
  /** Whether badges may count their viewers. */
  counting_badge: flag,
  /** The type that counts the same visits once per visitor and window. Its own `also` counts them as well. */
  also: orNull(otherType),
  /** The type that counts visits by bots instead of this one. */
  bots: orNull(otherType),
  /** What counts each visitor once if another type names this one in `also`: its key, each listed prefix, or one counter. */
  visitors_of: v.optional(v.picklist(['page', 'prefix', 'site'], 'must be "page", "prefix" or "site"'), 'page'),
  /** The folder of the downloads of `/d`: a URL or a path, with a trailing slash; `null`: no downloads. */
  redirect_to: orNull(folder),
  /** Prefixes whose sums everybody may read if the type is public. The dashboard offers them. */
  prefixes: v.optional(
    v.pipe(
      v.array(prefix, PREFIXES_RULE),
      v.check((list) => list.length <= MAX_PREFIXES && new Set(list).size === list.length, PREFIXES_RULE),
    ),
    [],
  ),
  count_bots: flag,
  /** Whether browsers with `navigator.webdriver` count. */
  count_automated: flag,
  /** Whether visitors with DNT or Global Privacy Control are left out. */
  respect_do_not_track: flag,
})

export const counterType = v.pipe(
  settings,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const type = dataset.value
    const wrong = (field: string, message: string) =>
      addIssue({ path: [{ type: 'object', origin: 'value', input: type, key: field, value: undefined }], message })
    if (type.countingBadge && !type.public) {
      wrong('counting_badge', 'needs public = true: everybody sees the count')
    }
    if (type.publicPage && !type.public) {
      wrong('public_page', 'needs public = true')
    }
    if (type.visitorsOf === 'prefix' && type.prefixes.length === 0) wrong('visitors_of', 'needs prefixes')
    if (!fitsLetterCase(type.sameKey, [type.newKeys].flat())) wrong('new_keys', LOWER_CASE_RULE)
    if (!fitsLetterCase(type.sameKey, type.prefixes)) wrong('prefixes', LOWER_CASE_RULE)
    else if (type.visitorsOf === 'prefix' && type.prefixes.some((text) => spellingOf(text, type.sameKey) !== text)) {
      wrong('prefixes', 'must be spelled as keys are with `same_key`: "/blog", not "/blog/"')
    }
    if (type.visitorsOf === 'prefix' && type.prefixes.some(isFolder)) wrong('prefixes', 'must not be "." or ".."')
    // Only what pages send is spelled as people read it.
    if (type.allowedOrigins.length === 0) return
    for (const [field, texts] of [
      ['new_keys', [type.newKeys].flat()],
      ['prefixes', type.prefixes],
    ] as const) {
      const escaped = texts.find((text) => pageKey(text) !== text)
      if (escaped !== undefined) wrong(field, `must be spelled as people read it: "${pageKey(escaped)}"`)
    }
  }),
)

/** A kind of thing that is counted: a table `[vars.COUNTERS.<name>]`. */
export type CounterType = Readonly<Omit<v.InferOutput<typeof counterType>, 'title'> & { name: string; title: string }>

const fitsLetterCase = (sameKey: readonly string[], texts: readonly string[]) =>
  !sameKey.includes('letter_case') || texts.every((text) => text === text.toLowerCase())
