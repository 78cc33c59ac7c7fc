import type { DeclaredPrefix } from '../../src/counters/ledger/kept-sums.ts'

const YEAR_HOURS = 365 * 24
// The load brings thousands of keys into being.
const ANY_SITE = { public: true, allowed_origins: ['*'], new_keys_per_minute: 'unlimited' }

/**
 * Settings with types whose visits count once, in windows that do not end while a test runs. Each type has two prefixes whose
 * totals are kept. The second begins with the first.
 */
export const VISITS = {
  COUNTERS: {
    page_view: { record_type: 1, ...ANY_SITE, totals: ['/', '/hot/'] },
    download: { record_type: 2, ...ANY_SITE, totals: ['/own/', '/own/a'] },
    visit: { record_type: 3, ...ANY_SITE, dedupe_seconds: YEAR_HOURS * 3_600, totals: ['/both/', '/both/1'] },
    /** Its hits are visits as well. */
    view: { record_type: 4, ...ANY_SITE, also: 'visit', totals: ['/both/', '/both/1'] },
  },
  PRUNING: { idempotency_hours: YEAR_HOURS },
  // One run moves everything, and declares all prefixes.
  ROLLUP: { max_statements: 1_000 },
}

/** The prefixes that these settings declare. */
export const DECLARED: readonly DeclaredPrefix[] = Object.values(VISITS.COUNTERS).flatMap(({ record_type, totals }) =>
  totals.map((text) => ({ recordType: record_type, text })),
)

/** The same, and prefixes that are declared when everything has been counted and rolled up. */
export const DECLARED_LATER: readonly DeclaredPrefix[] = [
  ...DECLARED,
  { recordType: 1, text: '/h' },
  { recordType: 2, text: '/own/b' },
  { recordType: 3, text: '/' },
  { recordType: 4, text: '/' },
]
