import { openDatabase } from '../database/database.ts'
import { databaseOf } from '../http/database-of.ts'
import { endpoint } from '../http/endpoint.ts'
import { isolateOf } from '../isolate.ts'
import { log } from '../log.ts'
import { statusReport } from '../status/report.ts'
import { survey } from '../status/survey.ts'
import { readStatus, type readStatusContract } from './status-contract.ts'

/** Milliseconds that one part of the status may take. */
const PART_DEADLINE_MS = 3_000

/** How the Worker and its database are doing. */
export const status = endpoint<typeof readStatusContract>(readStatus, async (c) => {
  const isolate = isolateOf(c.env)
  const { config } = isolate
  // Not through the circuit breaker: the server's views may be slow or refused although the database is well.
  const aside = openDatabase({ url: config.databaseUrl, deadlineMs: PART_DEADLINE_MS })
  const found = await survey(databaseOf(c), c.get('databaseTime')?.of(aside) ?? aside, config.pruning)
  for (const { part, error } of found.missing) {
    log('warn', 'status_incomplete', { requestId: c.get('requestId'), part, error: String(error) })
  }
  return c.json(statusReport(found, isolate, new Date()), 200, { 'Cache-Control': 'no-store' })
})
