import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import type { Config } from '../config.ts'
import { readNames } from '../counters/names.ts'
import {
  FIRST_POSITION,
  MAX_RECONCILED,
  type Mismatch,
  type ReconcilePosition,
  reconcile,
} from '../counters/reconcile.ts'
import type { Executor } from '../database/database.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { withRetries } from '../database/retry.ts'
import { openMaintenanceDatabase } from '../maintenance.ts'
import { once, readQuery } from '../query.ts'

const LIMIT_RULE = `must be a whole number from 1 to ${MAX_RECONCILED}`
const CURSOR_RULE = 'must be what an earlier answer gave as next'

const verifyQuery = {
  after: once(
    z
      .string({ error: CURSOR_RULE })
      .transform((text, context): ReconcilePosition => {
        const position = readCursor(text)
        if (position === null) context.addIssue({ code: 'custom', message: CURSOR_RULE })
        return position ?? FIRST_POSITION
      })
      .optional(),
  ),
  limit: once(
    z
      .string({ error: LIMIT_RULE })
      .regex(/^\d{1,6}$/, LIMIT_RULE)
      .transform(Number)
      .pipe(z.number().min(1, LIMIT_RULE).max(MAX_RECONCILED, LIMIT_RULE))
      .default(MAX_RECONCILED),
  ),
}

/** Checking what the tables say against each other, page by page, with the token. */
export const verify = new Hono<AppEnv>()

verify.post('/v1/verify', requireToken, async (c) => {
  const { after = FIRST_POSITION, limit } = readQuery(c, verifyQuery)
  const db = withRetries(openMaintenanceDatabase(c.var.config))
  const { hourDays } = c.var.config.history
  const { checked, wrong, next } = await reconcile(db, { from: after, limit, at: new Date(), hourDays })
  return c.json({ checked, wrong: await describe(db, c.var.config, wrong), next: next && writeCursor(next) }, 200, {
    'Cache-Control': 'no-store',
  })
})

/** Mismatches as people read them, with the names of counters. */
async function describe(db: Executor, config: Config, wrong: readonly Mismatch[]) {
  const types = new Map([...config.types.values()].map((type) => [type.recordType, type]))
  const named = wrong.flatMap(({ recordType, recordId }) =>
    recordId !== null && types.get(recordType)?.key !== 'integer' ? [{ recordType, recordId }] : [],
  )
  const nameOf = await readNames(db, named)
  return wrong.map(({ recordType, recordId, what, start, is, shouldBe }) => {
    const type = types.get(recordType)
    const counter = recordId === null ? null : { recordType, recordId }
    return {
      type: type?.name ?? null,
      recordType,
      key: counter && (type?.key === 'integer' ? String(counter.recordId) : nameOf(counter)),
      recordId: counter && String(counter.recordId),
      what,
      start,
      is: toJsonNumber(is),
      shouldBe: toJsonNumber(shouldBe),
      difference: toJsonNumber(is - shouldBe),
    }
  })
}

function writeCursor(position: ReconcilePosition): string {
  switch (position.phase) {
    case 'counters':
      return `counters.${position.recordType}.${position.recordId}`
    case 'days':
      return `days.${position.recordType}.${position.start}`
    case 'hours':
      return `hours.${position.start.replace(' ', 'T')}`
    case 'calendar':
      return `calendar.${position.recordType}`
  }
}

/** The position that a cursor stands for; `null`: it is none of ours. */
function readCursor(text: string): ReconcilePosition | null {
  const [, phase, , number, rest] =
    /^(counters|days)(\.)(\d{1,5})\.(\d{1,20}|\d{4}-\d\d-\d\d|)$/.exec(text) ??
    /^(calendar)(\.)(\d{1,5})()$/.exec(text) ??
    []
  const recordType = Number(number)
  if (phase === 'counters' && /^\d+$/.test(rest!) && BigInt(rest!) < 2n ** 64n) {
    return { phase, recordType, recordId: BigInt(rest!) }
  }
  if (phase === 'days' && (rest === '' || isTime(rest!))) return { phase, recordType, start: rest! }
  if (phase === 'calendar') return { phase, recordType }
  const hours = /^hours\.(\d{4}-\d\d-\d\d(?:T\d\d:00:00)?|)$/.exec(text)
  if (hours === null || (hours[1] !== '' && !isTime(hours[1]!))) return null
  return { phase: 'hours', start: hours[1]!.replace('T', ' ') }
}

/** Whether a date, or date and time, is on the calendar. */
function isTime(text: string): boolean {
  const time = new Date(`${text.slice(0, 10)}T${text.slice(11) || '00:00:00'}Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) && text >= '1000'
}
