/** What still works with a wrong setting, or not: hits, their visitors, downloads, their redirects, and two tokens. */
export const PARTS = ['view', 'visitor', 'download', 'redirect', 'writer', 'reader'] as const
export type Part = (typeof PARTS)[number]

/** One wrong setting: its place, its value, where the mistake is named, and the parts that it concerns. */
export interface WrongSetting {
  at: readonly string[]
  value: unknown
  field: string
  stops: readonly Part[]
}

const TYPES = ['page_view', 'visitor', 'download'] as const
const STOPPED_WITH: Record<(typeof TYPES)[number], readonly Part[]> = {
  page_view: ['view', 'visitor', 'writer'],
  visitor: ['visitor'],
  download: ['download'],
}

function ofType(type: (typeof TYPES)[number], name: string, value: unknown, stops = STOPPED_WITH[type], deeper = '') {
  return { at: ['COUNTERS', type, name], value, field: `COUNTERS.${type}.${name}${deeper}`, stops }
}

function limit(table: string, name: string, value: unknown, deeper = ''): WrongSetting {
  return { at: [table, name], value, field: `${table}.${name}${deeper}`, stops: [] }
}

const whole = (name: string, value: unknown, stops: readonly Part[] = []): WrongSetting => {
  return { at: [name], value, field: name, stops }
}

const COUNTING: readonly Part[] = ['view', 'visitor', 'download', 'writer']

/** A minute of a test brings more keys than one of visitors. */
const BASE = { public: true, new_keys_per_minute: 'unlimited' }

/** The settings in which each is wrong, in their own place. */
export const RIGHT = {
  PLAN: 'free',
  COUNTERS: {
    page_view: { ...BASE, record_type: 1, allowed_origins: ['https://blog.example'], also: 'visitor' },
    visitor: { record_type: 3, dedupe_seconds: 86_400 },
    download: { ...BASE, record_type: 2, redirect_to: 'https://files.example/' },
  },
}

/** Wrong settings of wrangler.toml. */
export const WRONG_SETTINGS: readonly WrongSetting[] = [
  ofType('page_view', 'record_type', '1'),
  ofType('page_view', 'publik', true),
  ofType('page_view', 'slots', 0),
  ofType('page_view', 'allowed_origins', ['https://blog.example', 'example.com/'], undefined, '.1'),
  ofType('page_view', 'key', 'text'),
  ofType('page_view', 'title', '', []),
  ofType('page_view', 'unit', 5, []),
  ofType('page_view', 'unit_one', ' view', []),
  ofType('page_view', 'keys', '', []),
  ofType('page_view', 'url', 'blog.example', []),
  ofType('page_view', 'same_key', ['slash'], undefined, '.0'),
  ofType('page_view', 'new_keys', []),
  ofType('page_view', 'new_keys_per_minute', 'many'),
  ofType('page_view', 'dedupe_seconds', -1),
  ofType('page_view', 'counting_badge', 'yes'),
  ofType('page_view', 'public_page', 1, []),
  ofType('page_view', 'count_bots', 'no'),
  ofType('page_view', 'prefixes', 'app-'),
  ofType('page_view', 'visitors_of', 'pages'),
  ofType('page_view', 'respect_do_not_track', 'true'),
  ofType('page_view', 'also', 'visitors', ['visitor']),
  ofType('page_view', 'bots', 'crawlers', []),
  ofType('visitor', 'record_type', 70_000),
  ofType('visitor', 'dedupe_seconds', 'day'),
  ofType('visitor', 'dedupe_seconds', 200_000, []),
  ofType('visitor', 'foo_bar', 3),
  { ...ofType('visitor', 'same_key', ['letter_case']), field: 'COUNTERS.page_view.also' },
  ofType('visitor', 'record_type', 1, ['view', 'visitor', 'writer']),
  ofType('download', 'count_bots', 1),
  ofType('download', 'redirect_to', 'files', ['download', 'redirect']),
  ofType('download', 'redirect_two', '/files/'),
  ofType('download', 'slots', 1.5),
  ofType('download', 'record_type', 0),
  ofType('download', 'unit', ' files', []),
  { at: ['COUNTERS', '9lives'], value: { record_type: 9 }, field: 'COUNTERS.9lives', stops: [] },
  { at: ['COUNTERS', 'other'], value: 5, field: 'COUNTERS.other', stops: [] },
  whole('COUNTERS', 'page_view', [...COUNTING, 'redirect']),
  limit('PRUNING', 'idempotency_hours', 0),
  limit('PRUNING', 'page_slots', 800),
  whole('PRUNING', 5),
  limit('HISTORY', 'hour_days', 7),
  limit('HISTORY', 'foo', true),
  limit('EXCLUDE', 'networks', ['203.0.113.7', 'home'], '.1'),
  limit('EXCLUDE', 'network', []),
  { ...limit('SHARDING', 'ranges', 3), stops: COUNTING },
  { ...limit('SHARDING', 'ranges', 16), field: 'PLAN' },
  whole('SITES', 'blog.example'),
  whole('PLAN', 'Free'),
  whole('BASE_PATH', 'counter/'),
  whole('VISITOR_LIMIT', 5),
  whole('BATCHES', 'batches'),
]

/** Wrong secrets, of which `GOOD` is a right line of `API_TOKENS`. */
export const wrongSecrets = (good: { reader: string; writer: string }): readonly WrongSetting[] => [
  whole('API_TOKEN', undefined),
  whole('DATABASE_URL', 'mysql://user:password@host/database', COUNTING),
  { ...whole('API_TOKENS', `${good.writer}\nreader read 123`, ['reader']), field: 'API_TOKENS.2.hash' },
  { ...whole('API_TOKENS', `writer\n${good.reader}`, ['writer']), field: 'API_TOKENS.1' },
  {
    ...whole('API_TOKENS', `${good.writer.replace('page_view', 'page_view,gone')}\n${good.reader}`),
    field: 'API_TOKENS.1.types',
  },
]

/** The settings with some of them wrong. */
export function withWrong(settings: object, wrong: readonly WrongSetting[]): Record<string, unknown> {
  const changed = structuredClone(settings) as Record<string, unknown>
  for (const { at, value } of wrong) {
    let table = changed
    for (const name of at.slice(0, -1)) {
      table[name] ??= {}
      table = table[name] as Record<string, unknown>
    }
    table[at.at(-1)!] = value
  }
  return changed
}

/** Whether two are wrong in different places. */
export function areApart(one: WrongSetting, other: WrongSetting): boolean {
  return one.at.some((name, i) => i < other.at.length && other.at[i] !== name)
}
