import { MAX_COUNTED } from '../counters/rollup/backlog.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { toJsonNumber } from '../database/values.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import type { Isolate } from '../isolate.ts'
import { problemOf } from '../service/problem.ts'
import { VERSION } from '../version.ts'
import { FINDING_CODES, type Finding, findingsOf, secondsSince } from './findings.ts'
import type { Missing, Survey } from './survey.ts'

const NO_QUEUE = 'No queue is bound, so an outage of the database loses hits. See the queues in wrangler.toml.'

/** The status, from a survey of the database and from this isolate's state. `unavailable` explains members that are `null`. */
export function statusReport(found: Survey, isolate: Isolate, now: Date) {
  const { config, mistakes, breakers, counting, reads, ignoredHits } = isolate
  const breakerOpen = breakers.some(({ open }) => open)
  const { rollUp, slots, server, tables, locks, oldestHour } = found
  const problems = findingsOf({
    survey: found,
    databaseProblem: databaseProblemOf(found),
    breakerOpen,
    config,
    mistakes,
    now,
  })
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
      rowLockWaits: numberOf(locks.waits),
      rowLockWaitsNow: numberOf(locks.waiting),
      rowLockAverageMs: numberOf(locks.averageMs),
      deadlocks: numberOf(locks.deadlocks),
    },
    sizes: tables && {
      estimated: true,
      tables: tables.map(({ name, rows, dataBytes, indexBytes }) => ({
        name,
        rows: toJsonNumber(rows),
        dataBytes: toJsonNumber(dataBytes),
        indexBytes: toJsonNumber(indexBytes),
      })),
    },
    isolate: {
      breaker: breakerOpen ? ('open' as const) : ('closed' as const),
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

function numberOf(value: bigint | null): number | null {
  return value === null ? null : toJsonNumber(value)
}

/** The problem if not even the state of the roll-up could be read. */
function databaseProblemOf({ missing }: Survey): Finding | null {
  const lost = missing.find(({ part }) => part === 'rollUp')
  if (lost === undefined) return null
  if (lost.error instanceof DatabaseFailure) {
    const { code, details } = problemOf(lost.error)
    const found = FINDING_CODES.find((known) => known === code)
    if (found !== undefined) return { code: found, detail: details.detail }
  }
  return { code: 'database_unavailable', detail: 'The state of the roll-up could not be read. The log has the error.' }
}

/** Why a part is missing. The log has the database's message. */
function reasonOf(error: Missing['error']): string {
  if (!(error instanceof DatabaseFailure)) return 'not_understood'
  return error.kind === 'rejected' ? 'refused' : problemOf(error).code
}
