import { MAX_RANGES, rangeOf, rangeStarts } from '../../src/counters/ranges.ts'
import { bucketOf } from '../../src/database/buckets.ts'
import type { Database, Executor, Result } from '../../src/database/database.ts'
import type { ModelServer } from './model-server.ts'
import type { ServerCosts } from './server-costs.ts'
import type { VirtualClock } from './virtual-clock.ts'

const EMPTY: Result = { rows: [], rowsAffected: 0 }
const DIGITS = 20

/** A slot as the model stores it. Numbers of 64 bits are padded text, so that they sort. */
interface Slot {
  type: string
  id: string
  slot: string
  count: number
}

/** What was sent to the database. */
export interface Traffic {
  hitStatements: number
  insertedRows: number
  refilledRows: number
  addedRows: number
  nameStatements: number
  nameRows: number
  runStatements: number
}

const NO_TRAFFIC: Traffic = {
  hitStatements: 0,
  insertedRows: 0,
  refilledRows: 0,
  addedRows: 0,
  nameStatements: 0,
  nameRows: 0,
  runStatements: 0,
}

/** The rows that all connections see: slots. What is done to counters and history is only counted: nothing here reads them. */
export class ModelTables {
  readonly slots = new Map<string, Slot>()
  traffic: Traffic = { ...NO_TRAFFIC }

  reset(): void {
    this.traffic = { ...NO_TRAFFIC }
  }
}

/** A connection to the model. */
export interface ModelConnection {
  clock: VirtualClock
  server: ModelServer
  costs: ServerCosts
  tables: ModelTables
  ranges: number
  /** Milliseconds of a round trip. */
  roundTripMs: number
  /** How many connections this one stands for. */
  weight: number
  /** Draws the duration of a statement, instead of what the model of the server says. */
  drawMs?(): number
  /** Whether a slot was there before the simulation began. Default: no. */
  existed?(recordId: bigint): boolean
  /** Told of each statement with hits: how many hits its slot got. */
  onHits?(slot: string, hits: number): void
}

/**
 * A database that answers the statements of counting, the roll-up and pruning as MySQL would, and takes as long as a model of the
 * server says. For sizing: whether the statements are right is for the tests, which use real servers.
 *
 * @throws {Error} for every other statement
 */
export function modelDatabase(connection: ModelConnection): Database {
  const { clock, server, ranges } = connection
  const { shards, commitMs } = server.options
  const run = async (sql: string, args: readonly unknown[], inTransaction: boolean): Promise<Result> => {
    const answer = answerOf(sql, args)
    const shard = Math.floor((answer.range(ranges) * shards) / ranges)
    const { micros, result } = answer.execute(connection)
    const serverMs = server.take(shard, micros, connection.weight)
    const commits = answer.writes !== inTransaction
    await clock.wait(connection.drawMs?.() ?? connection.roundTripMs + serverMs + (commits ? commitMs : 0))
    return result()
  }
  const execute: Executor['execute'] = (sql, args = []) => run(sql, args, false)
  return {
    ranges,
    execute,
    async transaction(work) {
      await run('BEGIN', [], true)
      const value = await work({ execute: (sql, args = []) => run(sql, args, true) })
      await run('COMMIT', [], true)
      return value
    },
  }
}

/** How the model answers one statement. */
interface Answer {
  writes: boolean
  range(ranges: number): number
  /** What it costs, and what the client gets afterwards. */
  execute(connection: ModelConnection): { micros: number; result(): Result }
}

function answerOf(sql: string, args: readonly unknown[]): Answer {
  const text = sql.trimStart()
  for (const [pattern, answer] of ANSWERS) if (pattern.test(text)) return answer(text, args)
  throw new Error(`The model does not know this statement: ${text.slice(0, 200)}`)
}

type Answerer = (sql: string, args: readonly unknown[]) => Answer

const answers = (writes: boolean, id: bigint | null, execute: Answer['execute']): Answer => ({
  writes,
  range: (ranges) => (id === null ? 0 : rangeOf(id, ranges)),
  execute,
})

/** The rows of an INSERT: the text of each, without its parentheses. */
function rowsOf(sql: string): string[] {
  const from = sql.indexOf('(', sql.indexOf('VALUES')) + 1
  const upsert = sql.indexOf('ON DUPLICATE KEY')
  const to = sql.lastIndexOf(')', upsert < 0 ? sql.length : upsert)
  return sql.slice(from, to).split('),(')
}

const idIn = (row: string): bigint => BigInt(row.split(',', 2)[1]!)

const statement: Answerer = (sql) =>
  answers(/^(INSERT|UPDATE|COMMIT|DELETE)/.test(sql), null, ({ costs, tables }) => {
    tables.traffic.runStatements++
    return { micros: costs.runStatement, result: () => EMPTY }
  })

/** An INSERT of a run, with a cost for each row. It changes every row, which an upsert counts twice. */
const insertOf =
  (cost: 'movedTotal' | 'movedHour' | 'movedPeriod'): Answerer =>
  (sql) => {
    const rows = rowsOf(sql)
    return answers(true, idIn(rows[0]!), ({ costs, tables }) => {
      tables.traffic.runStatements++
      return {
        micros: costs.runStatement + rows.length * costs[cost],
        result: () => ({ rows: [], rowsAffected: 2 * rows.length }),
      }
    })
  }

const writeHits: Answerer = (sql) => {
  const rows = rowsOf(sql)
  return answers(true, idIn(rows[0]!), ({ costs, tables, weight, existed, onHits }) => {
    const { traffic, slots } = tables
    traffic.hitStatements += weight
    let micros = costs.hitStatement
    const changes = rows.map((row): [string, string, number] => {
      const [type, id, , slot, count] = row.split(',', 5)
      return [`${type},${id},${slot}`, row, Number(count)]
    })
    for (const [key, , count] of changes) {
      const slot = slots.get(key)
      const [type, id, number] = key.split(',') as [string, string, string]
      onHits?.(number, count)
      if (slot !== undefined && slot.count !== 0) {
        traffic.addedRows += weight
        micros += costs.addedRow
      } else if (slot !== undefined || existed?.(BigInt(id))) {
        traffic.refilledRows += weight
        micros += costs.refilledRow
      } else {
        traffic.insertedRows += weight
        micros += costs.insertedRow
      }
      if (slot === undefined) {
        slots.set(key, { type, id: id.padStart(DIGITS, '0'), slot: number.padStart(DIGITS, '0'), count })
      } else slot.count += count
    }
    return { micros, result: () => ({ rows: [], rowsAffected: rows.length }) }
  })
}

/** Finds all names: the keys of the simulation were counted before. */
const readNames: Answerer = (sql) => {
  const ids = [...sql.matchAll(/record_id IN \(([\d,]+)\)/g)].flatMap(([, list]) => list!.split(','))
  return answers(false, BigInt(ids[0]!), ({ costs, tables, weight }) => {
    tables.traffic.nameStatements += weight
    tables.traffic.nameRows += weight * ids.length
    return {
      micros: costs.nameStatement + ids.length * costs.knownNameRow,
      result: () => ({ rows: ids.map((id) => ({ record_type: 1, record_id: id, gone: 0 })), rowsAffected: 0 }),
    }
  })
}

const subtract: Answerer = (sql) => {
  const rows = rowsOf(sql)
  return answers(true, idIn(rows[0]!), ({ costs, tables }) => {
    tables.traffic.runStatements++
    for (const row of rows) {
      const [type, id, , slot, count] = row.split(',')
      tables.slots.get(`${type},${id},${slot}`)!.count += Number(count)
    }
    return {
      micros: costs.runStatement + rows.length * costs.subtractedSlot,
      result: () => ({ rows: [], rowsAffected: 2 * rows.length }),
    }
  })
}

const FIRST_IDS = new Map(rangeStarts(MAX_RANGES).map((id) => [String(bucketOf(id)), id]))

/** The record ids of a range, whose buckets are in their order; `null` if the statement is about all. */
function boundsIn(sql: string): { first: bigint; last: bigint } | null {
  const [, list] = /s\.bucket IN \(([\d,]+)\)/.exec(sql) ?? []
  if (list === undefined) return null
  const buckets = list.split(',')
  return { first: FIRST_IDS.get(buckets[0]!)!, last: FIRST_IDS.get(buckets.at(-1)!)! + 2n ** 56n - 1n }
}

/** Pending slots in order, and from when. Sorting them for every page would take longer than everything else. */
const sorted = new WeakMap<ModelTables, { pages: Map<string, Slot[]>; of: string }>()

/** How many rows a statement reads at most. */
const limitOf = (sql: string) => Number(/LIMIT (\d+)$/.exec(sql)![1])

const readPage: Answerer = (sql) => {
  const bounds = boundsIn(sql)
  const limit = limitOf(sql)
  const [, id, slot] = /s\.record_id = (\d+) AND s\.bucket = \d+ AND s\.slot > (\d+)/.exec(sql) ?? []
  return answers(false, bounds?.first ?? null, ({ costs, tables }) => {
    tables.traffic.runStatements++
    const key = bounds === null ? '' : String(bounds.first)
    let known = sorted.get(tables)
    if (known === undefined) {
      known = { pages: new Map(), of: '' }
      sorted.set(tables, known)
    }
    let pending = known.pages.get(key)
    if (pending === undefined || id === undefined) {
      const [first, last] = bounds === null ? ['', '9'.repeat(DIGITS)] : [pad(bounds.first), pad(bounds.last)]
      pending = [...tables.slots.values()]
        .filter(({ count, id }) => count !== 0 && id >= first && id <= last)
        .sort((a, b) => (a.id < b.id || (a.id === b.id && a.slot < b.slot) ? -1 : 1))
      known.pages.set(key, pending)
    }
    let from = 0
    if (id !== undefined) {
      const [afterId, afterSlot] = [pad(id), pad(slot)]
      let to = pending.length
      while (from < to) {
        const middle = (from + to) >> 1
        const at = pending[middle]!
        if (at.id < afterId || (at.id === afterId && at.slot <= afterSlot)) from = middle + 1
        else to = middle
      }
    }
    const page = pending.slice(from, from + limit).filter(({ count }) => count !== 0)
    return {
      micros: costs.runStatement + page.length * costs.readSlot,
      result: () => ({
        // Every counter has a total: its version and count.
        rows: page.map(({ type, id, slot, count }) => ({
          packed: `${type} ${BigInt(id)} ${BigInt(slot)} ${count} 1 0`,
        })),
        rowsAffected: 0,
      }),
    }
  })
}

const pad = (number: unknown) => String(number).padStart(DIGITS, '0')

/** The holder of each lease, by the first record id of its range. */
const holders = new Map<string, unknown>()

const takeLease: Answerer = (sql, args) => {
  const start = /VALUES \((\d+)/.exec(sql)![1]!
  holders.set(start, args[0])
  return { ...statement(sql, args), range: (ranges) => rangeOf(BigInt(start), ranges) }
}

const readLease: Answerer = (sql) => {
  const start = /IN \((\d+)/.exec(sql)![1]!
  return answers(false, BigInt(start), ({ costs, tables }) => {
    tables.traffic.runStatements++
    const row = {
      holder: String(holders.get(start)),
      slot: null,
      last_run_at: null,
      caught_up_at: null,
      stopped_by: null,
    }
    return { micros: costs.runStatement, result: () => ({ rows: [row], rowsAffected: 0 }) }
  })
}

const countPending: Answerer = () =>
  answers(false, null, ({ costs, tables }) => {
    tables.traffic.runStatements++
    let pending = 0
    for (const { count } of tables.slots.values()) if (count !== 0) pending++
    const row = { pending: String(pending), oldest: null, hour: '1' }
    return { micros: costs.runStatement, result: () => ({ rows: [row], rowsAffected: 0 }) }
  })

const readOld: Answerer = (sql) =>
  answers(false, null, ({ costs, tables }) => {
    tables.traffic.runStatements++
    const limit = limitOf(sql)
    const rows: { packed: string }[] = []
    for (const { type, id, slot } of tables.slots.values()) {
      if (rows.length === limit) break
      rows.push({ packed: `1 1 ${type} ${BigInt(id)} ${BigInt(slot)}` })
    }
    return { micros: costs.runStatement + rows.length * costs.readOldSlot, result: () => ({ rows, rowsAffected: 0 }) }
  })

const deleteOld: Answerer = (sql) => {
  const rows = sql.slice(sql.indexOf('IN ((') + 5, sql.indexOf('))')).split('),(')
  return answers(true, idIn(rows[0]!), ({ costs, tables }) => {
    tables.traffic.runStatements++
    for (const row of rows) tables.slots.delete(row)
    return {
      micros: costs.runStatement + rows.length * costs.deletedSlot,
      result: () => ({ rows: [], rowsAffected: rows.length }),
    }
  })
}

const ANSWERS: readonly (readonly [RegExp, Answerer])[] = [
  [/^INSERT INTO slotted_counters[\s\S]*IF\(batch = /, writeHits],
  [/^SELECT record_type, record_id, gone_hour/, readNames],
  [/^INSERT INTO slotted_counters/, subtract],
  [/^SELECT[\s\S]*FROM slotted_counters AS s FORCE INDEX \(pending\)/, readPage],
  [/^INSERT INTO counters[\s\S]*ON DUPLICATE KEY/, insertOf('movedTotal')],
  [/^INSERT INTO counter_history/, insertOf('movedHour')],
  [/^INSERT INTO counter_periods/, insertOf('movedPeriod')],
  [/^INSERT INTO type_history/, statement],
  [/^INSERT INTO rollup_state/, takeLease],
  [/^SELECT holder/, readLease],
  [/^UPDATE rollup_state/, statement],
  [/^SELECT\s+\(SELECT COUNT\(\*\)/, countPending],
  [/^SELECT[\s\S]*FORCE INDEX \(pruning\)/, readOld],
  [/^DELETE FROM slotted_counters/, deleteOld],
  [/^(BEGIN|COMMIT)$/, statement],
]
