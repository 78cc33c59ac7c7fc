import * as v from 'valibot'
import { importCounts } from '../counters/changes/import-counts.ts'
import { checkTypes } from '../http/authorization.ts'
import { answerChange, idempotencyKey } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { described, importKey, namedObject, operation, route, whole } from '../openapi/contract.ts'
import { dateField, importedCountField, listBody, listEntry, MAX_LISTED } from '../openapi/fields.ts'
import { ADJUSTING, exampleInvalid } from '../openapi/problems.ts'
import { listedCounters } from '../service/named-counters.ts'
import { invalidRequest } from '../service/problem.ts'

const KEY_RULE = 'is required: a value unique to this request, so that a retry changes nothing'
const DAY_RULE = 'must be a day such as "2026-11-01", from 1970-01-01 to today (UTC)'

const row = () =>
  listEntry('ImportedCount', {
    count: importedCountField(),
    day: described(v.optional(dateField(DAY_RULE)), 'The day of the history to add to (UTC).'),
  })

const addImport = route('post', '/v1/imports', 'manage', {
  typesInBody: true,
  body: listBody('counters', row),
})

const TWO_COUNTS = {
  headers: { 'Idempotency-Key': 'old-counter-part-1' },
  body: {
    counters: [
      { type: 'page_view', key: '/about', count: 120, day: '2026-11-01' },
      { type: 'download', key: 'app.tgz', count: 4711 },
    ],
  },
  answer: { imported: 2 },
}

export const addImportContract = () =>
  operation(addImport, {
    id: 'import',
    tag: 'Changing',
    summary: 'Import counts',
    description: `Adds counts from another source to up to ${MAX_LISTED} counters of one range (\`SHARDING.ranges\`): all of them or none.`,
    headers: importKey(),
    answers: {
      200: {
        description: 'Added, by this or an earlier request with the same idempotency key.',
        headers: ['Idempotent-Replayed'],
        schema: namedObject('Imported', { imported: described(whole, 'The number of rows.') }),
      },
    },
    problems: ['different_ranges', ...ADJUSTING],
    examples: {
      oneDay: { summary: 'One count with a day, one without', ...TWO_COUNTS },
      again: { summary: 'The same request again', ...TWO_COUNTS, says: { 'Idempotent-Replayed': 'true' } },
      tomorrow: {
        summary: 'A day in the future',
        headers: { 'Idempotency-Key': 'old-counter-part-2' },
        body: { counters: [{ type: 'page_view', key: '/about', count: 120, day: '9999-12-31' }] },
        status: 422,
        answer: exampleInvalid('counters.0.day', DAY_RULE),
      },
    },
  })

export const imports = endpoint<typeof addImportContract>(addImport, async (c, { caller: { isolate }, body }) => {
  const id = await idempotencyKey(c, 'import')
  if (id === undefined) throw invalidRequest([{ field: 'Idempotency-Key', message: KEY_RULE }])
  const now = new Date()
  const dayOf = ({ day }: { day?: string | undefined }) => (day === undefined ? null : new Date(day))
  const listed = await listedCounters(isolate, 'counters', body.counters, (entry) => {
    const day = dayOf(entry)
    return day !== null && (day.getTime() < 0 || day > now) ? { field: 'day', message: DAY_RULE } : null
  })
  checkTypes(c, ...body.counters.map(({ type }) => type))
  const rows = listed.map((entry) => ({ counter: entry.counter, count: entry.count, day: dayOf(entry) }))
  const importing = importCounts(isolate.changeDb, rows, { id, at: now })
  return answerChange(c, id, importing, { imported: rows.length })
})
