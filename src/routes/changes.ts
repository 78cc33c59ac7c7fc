import type { Context } from 'hono'
import * as v from 'valibot'
import { DAY_MS, midnightOf, startOf } from '../counters/calendar.ts'
import { ChangeRefused, keyOfCounter } from '../counters/changes/change.ts'
import { importCounts } from '../counters/changes/import-counts.ts'
import { type MoveRequest, moveCounter } from '../counters/changes/move-counter.ts'
import { MAX_REPAIRED_DAYS, repairCounter } from '../counters/changes/repair-counter.ts'
import { setCounts } from '../counters/changes/set-counts.ts'
import { MISMATCHES } from '../counters/verify/verify-page.ts'
import { checkTypes } from '../http/authorization.ts'
import { waitUntilDone } from '../http/caller.ts'
import { endpoint, type Parts } from '../http/endpoint.ts'
import type { AppEnv } from '../http/hono.ts'
import { ADJUSTING, count, described, ok, operation, route, whole } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { flag, parsed, strictObject, textThat } from '../schemas.ts'
import { counterOfKey, listedCounters } from '../service/named-counters.ts'
import { invalidRequest, type ProblemCode, problemOf } from '../service/problem.ts'
import { SEND_AGAIN, takeListedReadings } from '../service/take-listed-readings.ts'

/**
 * Waits for a change of counters, `repeated` if an earlier request with the same key made it. @throws {Problem} says whether it was made
 * @param advice what to do if the outcome of a request without a key is unknown
 */
export async function changed<Done>(
  c: Context<AppEnv>,
  id: bigint | null | undefined,
  changing: Promise<Done>,
  advice = 'Read the counter to find out. Only a request with an Idempotency-Key can be retried safely.',
): Promise<Done> {
  const { reads } = c.get('isolate')
  const forgetting = changing.finally(() => reads.forget())
  const done = await waitUntilDone(c, forgetting).catch((error: unknown) => {
    throw problemOf(error, id == null ? advice : 'Retry with the same Idempotency-Key.')
  })
  if (done === 'repeated') c.header('Idempotent-Replayed', 'true')
  return done
}

const setCount = route('put', '/v1/counters/{type}/{key}', 'manage', {
  body: fields.shortBody(1024, '{"count":0}', () => ({
    count: fields.count,
    as: v.optional(v.literal('reading', 'must be "reading" if given')),
    reset: flag,
  })),
  idempotency: 'set',
})

export const setCountContract = () =>
  operation(setCount, 'Changing', 'set', {
    summary: 'Set a counter',
    description:
      'Sets the counter to any whole number. Pending counts stay in the history. A concurrent increment is either replaced too or added to the new value.',
    notes: {
      count: 'The new count.',
      as: '`reading`: the count comes from another source. What exceeds the current count is counted now; a lower reading is refused.',
    },
    answers: ok('Set, by this or an earlier request with the same idempotency key.', 'Setting', {
      type: v.string(),
      key: v.string(),
      count: whole,
      added: described(
        v.nullable(count),
        'By how much the count changed; importing the negative undoes that. null if an earlier request set the count.',
      ),
    }),
    problems: ['too_many_pending', 'reading_below_count', ...ADJUSTING],
  })

export const set = endpoint<typeof setCountContract>(
  setCount,
  async (c, { caller, type, counter, key, id = null, body }) => {
    const { count, as, reset } = body
    if (as === undefined && reset) throw invalidRequest([{ field: 'reset', message: 'needs "as": "reading"' }])
    const setOnce = async () => {
      const wanted = { counter, count: BigInt(count), as: as === undefined ? 'set' : reset ? 'reset' : as } as const
      const change = await keyOfCounter(id, 'set', counter, `${wanted.as} ${count}`)
      return setCounts(caller.isolate.changeDb, [wanted], { key: change, at: new Date() })
    }
    const done = await changed(c, id, setOnce(), as && SEND_AGAIN)
    // A repeated request is told the count that it set, not the present one.
    const result = done === 'repeated' ? { added: null } : done[0]!
    if ('refused' in result) throw new ChangeRefused(result.refused)
    return { type: type.name, key, count, added: result.added }
  },
)

/** What the contracts of deleting, renaming and merging share. */
const move = (...problems: readonly ProblemCode[]) =>
  ({
    answers: ok('Done, by this or an earlier request with the same idempotency key.', 'Moved', {
      type: v.string(),
      key: v.string(),
    }),
    problems: ['no_such_counter', 'history_too_large', 'too_many_pending', ...ADJUSTING, ...problems],
  }) as const

const ALSO_NOTE =
  '`true`: also change the counters of this key in the types that the type names in `also`, in one transaction. The token must cover them.'

const deleteCounter = route('delete', '/v1/counters/{type}/{key}', 'manage', {
  query: () => ({
    also: fields.trueOrFalse(),
    below: v.optional(parsed((text) => (/^-?\d{1,19}$/.test(text) ? BigInt(text) : null), 'must be a whole number')),
  }),
  idempotency: 'move',
})

export const deleteCounterContract = () =>
  operation(deleteCounter, 'Changing', 'delete', {
    summary: 'Delete a counter',
    description:
      'Deletes the counter with its name, history and adjustments. Later hits for its key create a new counter.',
    notes: {
      also: ALSO_NOTE,
      below: { type: 'integer', description: 'Delete only if the count is below this number.' },
    },
    ...move('count_not_below'),
  })

const rename = route('post', '/v1/counters/{type}/{key}/rename', 'manage', {
  query: () => ({ also: fields.trueOrFalse() }),
  body: fields.shortBody(4096, '{"to":"/new"}', () => ({ to: v.string() })),
  idempotency: 'move',
})

export const renameContract = () =>
  operation(rename, 'Changing', 'rename', {
    summary: 'Rename a counter',
    description: 'Moves count, history and adjustments to a new key. Later hits for the old key create a new counter.',
    notes: { also: ALSO_NOTE, to: 'The new key, which must not have a counter.' },
    ...move('counter_exists', 'different_ranges'),
  })

const merge = route('post', '/v1/counters/{type}/{key}/merge', 'manage', {
  query: () => ({ also: fields.trueOrFalse() }),
  body: fields.shortBody(4096, '{"into":"/other"}', () => ({ into: v.string() })),
  idempotency: 'move',
})

export const mergeContract = () =>
  operation(merge, 'Changing', 'merge', {
    summary: 'Merge a counter into another',
    description:
      'Adds count, history and adjustments to another counter of the same type, and deletes this one. Later hits for its key create a new counter.',
    notes: { also: ALSO_NOTE, into: 'The key of the other counter, which must exist.' },
    ...move('different_ranges'),
  })

export const deletion = endpoint<typeof deleteCounterContract>(deleteCounter, (c, parts) =>
  moved(c, parts, { kind: 'delete', below: parts.query.below }),
)

export const renaming = endpoint<typeof renameContract>(rename, (c, parts) =>
  moved(c, parts, { kind: 'rename', target: ['to', parts.body.to] }),
)

export const merging = endpoint<typeof mergeContract>(merge, (c, parts) =>
  moved(c, parts, { kind: 'merge', target: ['into', parts.body.into] }),
)

/** @param asked `target`: the field of the body with the other key, and that key */
async function moved(
  c: Context<AppEnv>,
  { caller: { isolate }, type, counter, key, id, query }: Parts<typeof deleteCounter>,
  asked: { kind: MoveRequest['kind']; target?: [field: string, key: string]; below?: bigint | undefined },
) {
  const { kind, target: [field, other] = [], below = null } = asked
  const target = other === undefined ? null : await counterOfKey(isolate.addresses, type, other, field)
  if (target?.recordId === counter.recordId)
    throw invalidRequest([{ field: field!, message: 'must be a different key' }])
  const others = query.also === 'true' ? type.also.filter(({ visitorsOf }) => visitorsOf === 'page') : []
  checkTypes(c, ...others.map(({ name }) => name))
  const also = others.map(({ recordType }) => recordType)
  await changed(c, id, moveCounter(isolate.changeDb, counter, { kind, target, below, also, key: id ?? null }))
  return { type: type.name, key }
}

const KEY_RULE = 'is required: a value unique to this request, so that a retry changes nothing'
const DAY_RULE = 'must be a day such as "2026-11-01", or an hour such as "2026-11-01T09", from 1970-01-01 to now (UTC)'

const dayOrHour = v.pipe(
  textThat(DAY_RULE, (text) => !Number.isNaN(midnightOf(text.replace(/T([01]\d|2[0-3])$/, '')))),
  v.transform((text) =>
    text.includes('T') ? { day: new Date(`${text}:00Z`), known: 'hour' as const } : { day: new Date(text) },
  ),
)

const addImport = route('post', '/v1/imports', 'manage', {
  typesInBody: true,
  body: fields.listBody('counters', () =>
    strictObject({ ...fields.named, count: fields.importedCount(), day: v.optional(dayOrHour) }),
  ),
  idempotency: 'import',
})

export const addImportContract = () =>
  operation(addImport, 'Changing', 'import', {
    summary: 'Import counts',
    description: `Adds counts from another source to up to ${fields.MAX_LISTED} counters of one range (\`SHARDING.ranges\`): all of them or none.`,
    notes: {
      counters: { entry: 'ImportedCount' },
      count: 'The number to add; beyond 2^53, as a string of digits.',
      day: 'The day of the history to add to (UTC), or an hour of it.',
    },
    answers: ok('Added, by this or an earlier request with the same idempotency key.', 'Imported', {
      imported: described(whole, 'The number of rows.'),
    }),
    problems: ['different_ranges', ...ADJUSTING],
  })

export const imports = endpoint<typeof addImportContract>(addImport, async (c, { caller: { isolate }, id, body }) => {
  if (id === undefined) throw invalidRequest([{ field: 'Idempotency-Key', message: KEY_RULE }])
  const at = new Date()
  const listed = await listedCounters(isolate, 'counters', body.counters, (_, { day }) =>
    day !== undefined && (day.day.getTime() < 0 || day.day > at) ? { field: 'day', message: DAY_RULE } : null,
  )
  checkTypes(c, ...body.counters.map(({ type }) => type))
  const rows = listed.map(({ day = { day: null }, ...row }) => ({ ...row, ...day }))
  const hoursFrom = startOf('day', new Date(at.getTime() - isolate.config.history.hourDays * DAY_MS))
  await changed(c, id, importCounts(isolate.changeDb, rows, { id, at, hoursFrom }))
  return { imported: rows.length }
})

const addReadings = route('post', '/v1/readings', 'manage', { typesInBody: true, body: fields.readingList })

export const readingsContract = () =>
  operation(addReadings, 'Changing', 'readings', {
    summary: 'Take readings',
    description:
      `Sets up to ${fields.MAX_LISTED} counters, each separately, to counts from another source, such as the downloads of a release. ` +
      'Increases are counted now, in the current hour, day and month. Repeating a reading adds nothing.',
    notes: { readings: { entry: 'CountReading' }, count: 'The count as the other source reports it.' },
    answers: ok('The readings were taken, except those in `refused`.', 'Readings', {
      taken: described(whole, 'The number of readings that were taken.'),
      added: described(whole, 'By how much they changed the counts.'),
      refused: v.array(
        v.strictObject({
          type: v.string(),
          key: v.string(),
          count: whole,
          code: v.picklist(['reading_below_count', 'count_out_of_range']),
          detail: v.string(),
        }),
      ),
    }),
    problems: ['too_many_pending', ...ADJUSTING],
  })

export const readings = endpoint<typeof readingsContract>(addReadings, async (c, { caller: { isolate }, body }) => {
  checkTypes(c, ...body.readings.map(({ type }) => type))
  return changed(c, null, takeListedReadings(isolate, body.readings), SEND_AGAIN)
})

const DAYS_RULE = `must be a list of up to ${MAX_REPAIRED_DAYS} days such as "2026-11-20"`

const repair = route('post', '/v1/counters/{type}/{key}/repair', 'manage', {
  body: fields.shortBody(4096, '{"dryRun":true}', () => ({
    dryRun: flag,
    days: v.optional(v.pipe(v.array(fields.date(DAYS_RULE), DAYS_RULE), v.maxLength(MAX_REPAIRED_DAYS, DAYS_RULE)), []),
  })),
})

export const repairContract = () =>
  operation(repair, 'Operating', 'repair', {
    summary: 'Repair a counter',
    description:
      'Corrects the sums that verification found wrong, in one transaction. The days and the count are not changed: the part of the count beyond days and adjustments becomes an adjustment.',
    notes: {
      dryRun: 'Only report what is wrong.',
      days: {
        items: { type: 'string', format: 'date' },
        description: 'Days of the type to rebuild from its counters, as reported by verification.',
      },
    },
    answers: ok('The sums that were wrong. Without `dryRun`, they are now correct.', 'Repaired', {
      type: v.string(),
      key: v.string(),
      wrong: v.array(
        v.strictObject({
          what: v.picklist(MISMATCHES),
          of: v.picklist(['counter', 'type']),
          start: v.nullable(v.string()),
          is: count,
          shouldBe: count,
        }),
      ),
    }),
    problems: ['no_such_counter', ...ADJUSTING],
  })

export const repairing = endpoint<typeof repairContract>(
  repair,
  async (c, { caller: { isolate }, type, counter, key, body: { days, dryRun } }) => {
    const { hourDays } = isolate.config.history
    const options = { days: [...new Set(days)], at: new Date(), hourDays, dryRun }
    const wrong = await changed(c, undefined, repairCounter(isolate.changeDb, counter, options))
    return {
      type: type.name,
      key,
      wrong: wrong.map(({ what, recordId, start, is, shouldBe }) => {
        const of = recordId === null ? ('type' as const) : ('counter' as const)
        return { what, of, start, is, shouldBe }
      }),
    }
  },
)
