import * as v from 'valibot'
import { byteLength, isFolder, MAX_KEY_BYTES, pageKey, SPELLINGS, spellingOf } from '../counters/keys/key-address.ts'
import { MAX_PATTERN_LENGTH, MAX_PATTERNS } from '../counters/keys/new-key-budgets.ts'
import { flag, integer, orNull, textThat } from '../schemas.ts'
import type { TableOf } from './read-settings.ts'

/** A line of text that people see. @param max its characters */
export const text = (max: number) =>
  textThat(
    `must be text of 1 to ${max} characters, without line breaks and without spaces around it`,
    (value) =>
      value !== '' && value === value.trim() && [...value].length <= max && !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(value),
  )

/** Names and addresses of hosts. URLs may also have `*`, `;` and quotation marks, but no browser sends such an origin. */
export const HOST_FORM = /^(?:[\w-]+\.)*[\w-]+\.?$|^\[/

/** A URL of the web in canonical form, without a user, ? and #: what is appended can be told from it, and cannot change its meaning. */
function canonical(value: string): URL | null {
  const url = /[?#]/.test(value) ? null : URL.parse(value)
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && HOST_FORM.test(url.hostname)
  return isWeb && (url.href === value || url.origin === value) ? url : null
}

const origin = textThat(
  'must be an origin such as "https://example.com" (scheme and host, no path, no trailing slash, no "*."), or "*"',
  (value) => value === '*' || canonical(value)?.origin === value,
)

const beginning = textThat(
  'must be the URL to which keys are appended, such as "https://example.com" or "https://example.com/items/", in canonical form, without ? and #',
  (value) => canonical(value) !== null,
)

const folder = textThat(
  'must be the folder of the files: a URL such as "https://files.example.com/dist/", or a path such as "/files/", with a slash at its end and no ? or #; ' +
    'or with {key} after that slash: "https://files.example.com/{key}/download"',
  (value) => {
    const [, base = value] = /^(.*\/)\{key\}(?:[/?.][\w./?=&%-]*)?$/.exec(value) ?? []
    return base.endsWith('/') && canonical(/^\/(?!\/)/.test(base) ? `http://host.invalid${base}` : base) !== null
  },
)

const NEW_KEYS_RULE = `must be "any", "known", or a list of 1 to ${MAX_PATTERNS} patterns such as "/blog/*"`
const pattern = textThat(
  `must have 1 to ${MAX_PATTERN_LENGTH} characters`,
  (value) => value !== '' && value.length <= MAX_PATTERN_LENGTH,
)

const MAX_PER_MINUTE = 1_000_000
const PER_MINUTE_RULE = `must be a whole number from 0 to ${MAX_PER_MINUTE}, or "unlimited"`

/** As many as the dashboard can show. */
const MAX_PREFIXES = 16
const PREFIXES_RULE = `must be a list of at most ${MAX_PREFIXES} different prefixes of keys, such as "app-"`
const prefix = textThat(
  `must have 1 to ${MAX_KEY_BYTES} bytes of UTF-8, without NUL`,
  (value) => value !== '' && value.isWellFormed() && !value.includes('\0') && byteLength(value) <= MAX_KEY_BYTES,
)

export const OTHER_TYPE_RULE = 'must be the name of another type'
const otherType = v.string(OTHER_TYPE_RULE)
const SPELLING_NAMES = SPELLINGS.map((name) => `"${name}"`).join(', ')

/** The longest `PRUNING.idempotency_hours`, and `dedupe_seconds`. */
export const MAX_IDEMPOTENCY_HOURS = 24 * 365

export const TYPE_SETTINGS = {
  record_type: integer(1, 65_535),
  /** What is counted, as a heading: "Page views". By default, the name. */
  title: orNull(text(60)),
  /** The unit of its counts, in the plural: "views". */
  unit: v.optional(text(30), 'counts'),
  /** The unit of the count 1: "view". */
  unit_one: orNull(text(30)),
  /** What its keys are, in the plural: "pages". */
  keys: v.optional(text(30), 'keys'),
  /** The URL to which keys are appended (`pageOf`); `null`: keys have no page. */
  url: orNull(beginning),
  same_key: v.optional(
    v.array(v.picklist(SPELLINGS, `must be one of ${SPELLING_NAMES}`), `must be a list of ${SPELLING_NAMES}`),
    [],
  ),
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
  /** Keys that public requests may create in a minute; `null`: any number. */
  new_keys_per_minute: v.pipe(
    v.optional(v.union([integer(0, MAX_PER_MINUTE, PER_MINUTE_RULE), v.literal('unlimited')], PER_MINUTE_RULE), 120),
    v.transform((value) => (value === 'unlimited' ? null : value)),
  ),
  public: flag,
  public_page: flag,
  /** Origins whose pages may send hits; `*`: every client. If empty, only the API counts. */
  allowed_origins: v.optional(v.array(origin, 'must be a list of origins'), []),
  /** Slots of each counter; `null`: every writer has its own. */
  slots: orNull(integer(1, 100_000)),
  /** Seconds within which a visitor counts once; 0: every time; `null`: see `windowOf`. */
  dedupe_seconds: orNull(integer(0, MAX_IDEMPOTENCY_HOURS * 3_600)),
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
  /** Whether its counters take readings only: then hits and increments are refused. */
  readings: flag,
  count_bots: flag,
  /** Whether browsers with `navigator.webdriver` count. */
  count_automated: flag,
  /** Whether visitors with DNT or Global Privacy Control are left out. */
  respect_do_not_track: flag,
}

type TypeSettings = Omit<TableOf<typeof TYPE_SETTINGS>, 'title' | 'also' | 'bots'>

/** A kind of thing that is counted: a table `[vars.COUNTERS.<name>]`. */
export interface CounterType extends Readonly<TypeSettings> {
  readonly name: string
  readonly title: string
  /** The types in which its visits count too: that of its `also`, that of the `also` of this one, and so on. */
  readonly also: readonly CounterType[]
  readonly bots: CounterType | null
}

/** The settings of a type that contradict others of it, each with its rule. */
export function contradictionsIn(type: TypeSettings): [setting: string, rule: string][] {
  const { newKeys, prefixes, sameKey } = type
  const ofPrefix = type.visitorsOf === 'prefix'
  const rules: [setting: string, isBroken: boolean, rule: string][] = [
    ['counting_badge', type.countingBadge && !type.public, 'needs public = true: everyone can see the count'],
    ['public_page', type.publicPage && !type.public, 'needs public = true'],
    ['visitors_of', ofPrefix && prefixes.length === 0, 'needs prefixes'],
    ['prefixes', ofPrefix && prefixes.some(isFolder), 'must not be "." or ".."'],
  ]
  // Where the type counts hits and prefixes, in the spelling of pages and of whole keys.
  const spelled = (text: string, isKey: boolean) => {
    const read = type.allowedOrigins.length === 0 ? text : pageKey(text)
    return spellingOf(read, isKey ? sameKey : sameKey.filter((name) => name === 'letter_case'))
  }
  const patterns = [newKeys].flat()
  for (const [setting, texts, areKeys] of [
    ['new_keys', patterns, false],
    ['prefixes', prefixes, ofPrefix],
  ] as const) {
    const other = texts.find((text) => spelled(text, areKeys) !== text)
    const rule = `must be spelled as keys are stored: ${JSON.stringify(spelled(other ?? '', areKeys))}`
    rules.push([setting, other !== undefined, rule])
  }
  return rules.flatMap(([setting, isBroken, rule]) => (isBroken ? [[setting, rule]] : []))
}

/** The default `dedupe_seconds`. Of downloads: a double click (COUNTER Code of Practice, release 5, section 7.2). */
export const DEFAULT_WINDOWS = { page: 0, download: 30 }

/** Seconds within which a visitor of a type counts once; 0: every time. */
export function windowOf({ dedupeSeconds, redirectTo }: CounterType): number {
  return dedupeSeconds ?? DEFAULT_WINDOWS[redirectTo === null ? 'page' : 'download']
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
