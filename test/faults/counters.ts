const YEAR_HOURS = 365 * 24
// The load brings thousands of keys into being.
const ANY_SITE = { public: true, allowed_origins: ['*'], new_keys_per_minute: 'unlimited' }

/**
 * Settings with types whose visits count once, in windows that do not end while a test runs. Each type lists two prefixes. The
 * second begins with the first.
 */
export const VISITS = {
  COUNTERS: {
    page_view: { record_type: 1, ...ANY_SITE, prefixes: ['/', '/hot/'] },
    download: { record_type: 2, ...ANY_SITE, prefixes: ['/own/', '/own/a'] },
    visit: { record_type: 3, ...ANY_SITE, dedupe_seconds: YEAR_HOURS * 3_600, prefixes: ['/both/', '/both/1'] },
    /** Its hits are visits as well. */
    view: { record_type: 4, ...ANY_SITE, also: 'visit', prefixes: ['/both/', '/both/1'] },
  },
  PRUNING: { idempotency_hours: YEAR_HOURS },
  // One run moves everything.
  PLAN: 'paid',
}

/** Prefixes of keys, by their record type. */
export const PREFIXES: readonly { recordType: number; text: string }[] = [
  ...Object.values(VISITS.COUNTERS).flatMap(({ record_type, prefixes }) =>
    prefixes.map((text) => ({ recordType: record_type, text })),
  ),
  // No type lists these.
  { recordType: 1, text: '/h' },
  { recordType: 2, text: '/own/b' },
]
