const YEAR_HOURS = 365 * 24
// The load brings thousands of keys into being.
const ANY_SITE = { public: true, allowed_origins: ['*'], new_keys_per_minute: 'unlimited' }

/** Settings with types whose visits count once, in windows that do not end while a test runs. */
export const VISITS = {
  COUNTERS: {
    page_view: { record_type: 1, ...ANY_SITE },
    download: { record_type: 2, ...ANY_SITE },
    visit: { record_type: 3, ...ANY_SITE, dedupe_seconds: YEAR_HOURS * 3_600 },
    /** Its hits are visits as well. */
    view: { record_type: 4, ...ANY_SITE, also: 'visit' },
  },
  PRUNING: { idempotency_hours: YEAR_HOURS },
}
