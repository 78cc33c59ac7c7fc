import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { VERSION } from '../generated.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import type { Isolate } from '../isolate.ts'
import { problemOf } from '../service/problem.ts'
import { findingsOf, secondsSince } from './findings.ts'
import type { Missing, Survey } from './survey.ts'

const NO_QUEUE = 'No queue is bound, so an outage of the database loses hits. See the queues in wrangler.toml.'

/** The status, from a survey of the database and from this isolate's state. `unavailable` explains members that are `null`. */
export function statusReport(found: Survey, isolate: Isolate, now: Date) {
  const { config, breakers, counting, reads, ignoredHits } = isolate
  const { rollUp, slots, server, tables, locks, oldestHour } = found
  const problems = findingsOf(found, isolate, now)
  const caughtUpAt = rollUp?.caughtUpAt ?? null
  return {
    version: VERSION,
    healthy: problems.length === 0,
    problems,
    notes: config.batches === null ? [NO_QUEUE] : [],
    unavailable: found.missing.map(({ part, error }) => ({ part, reason: reasonOf(error) })),
    pendingSlots: slots?.pending ?? null,
    pendingSlotsAtLeast: slots?.pending === MAX_COUNTED,
    prunableSlots: slots?.prunable ?? null,
    prunableSlotsAtLeast: slots?.prunable === MAX_COUNTED,
    rollUp: {
      running: rollUp === null ? null : (rollUp?.leased ?? false),
      lastRunAt: rollUp?.lastRunAt?.toISOString() ?? null,
      caughtUpAt: caughtUpAt?.toISOString() ?? null,
      behindSeconds: caughtUpAt && secondsSince(caughtUpAt, now),
    },
    history: oldestHour === null ? null : { oldestHour: oldestHour?.toISOString() ?? null },
    database: {
      version: server?.version ?? null,
      isolation: server?.isolation ?? null,
      latencyMs: found.latencyMs && Math.round(found.latencyMs * 10) / 10,
    },
    contention: locks && {
      since: locks.since.toISOString(),
      rowLockWaits: locks.waits,
      rowLockWaitsNow: locks.waiting,
      rowLockAverageMs: locks.averageMs,
      deadlocks: locks.deadlocks,
    },
    sizes: tables && {
      estimated: true,
      tables: tables.map(({ name, rows, dataBytes, indexBytes }) => ({ name, rows, dataBytes, indexBytes })),
    },
    isolate: {
      breaker: breakers.some(({ open }) => open) ? ('open' as const) : ('closed' as const),
      counting: counting.load,
      reading: reads.load(),
      ignored: ignoredHits.list().map((hit) => ({ ...hit, ...HIT_REASONS[hit.reason], at: hit.at.toISOString() })),
    },
    rateLimits: {
      counting: config.rateLimit !== null,
      reading: config.readLimit !== null,
      newKeys: config.newKeyLimit !== null,
    },
    types: [...config.types.values()].map(({ name, title, unit, url, also, recordType, key, sameKey }) => {
      return { name, title, unit, url, also, recordType, key, sameKey }
    }),
  }
}

/** Why a part is missing. The log has the database's message. */
function reasonOf(error: Missing['error']): string {
  if (!(error instanceof DatabaseFailure)) return 'not_understood'
  return error.kind === 'rejected' ? 'refused' : problemOf(error).code
}
