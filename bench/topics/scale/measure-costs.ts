import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'
import { byPrimaryKey } from '../../../src/counters/counter-address.ts'
import { counterValues } from '../../../src/counters/counters-sql.ts'
import { random63 } from '../../../src/counters/ids.ts'
import { findNames, storeNames } from '../../../src/counters/keys/names.ts'
import { applyBatch } from '../../../src/counters/ledger/slots.ts'
import { prune } from '../../../src/counters/old-rows.ts'
import { rollUp } from '../../../src/counters/rollup/roll-up.ts'
import type { Database, Executor } from '../../../src/database/database.ts'
import { createTables } from '../../harness/create-tables.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import { median } from '../../report/medians.ts'
import type { CostName, ServerCosts } from '../../simulation/server-costs.ts'

/** Slots that are in the table before anything is measured. */
const OTHER_SLOTS = 150_000
const ROWS = [1, 200] as const
const REPEATS = 25
/** Clients that write at the same time, so that commits share what they cost together, as on a busy server. */
const CLIENTS = 16
const STATEMENTS_EACH = 60
/** Statements of a connection that the server remembers. */
const REMEMBERED = 10
/** Names that are stored besides, so that the table has its usual density. */
const OTHER_NAMES = 20_000
/** Counters that are rolled up, and the slots of each. */
const COUNTERS = 5_000
const SLOTS_EACH = 2
const CONSUMER = `performance_schema.setup_consumers SET ENABLED = ? WHERE NAME = 'events_statements_cpu'`
const BUDGET = { pageSlots: 1_000, maxStatements: 9_000, maxSeconds: 50 }

/** Rows and bytes of a table, with its indexes. */
export interface TableSize {
  table: string
  rows: number
  bytesPerRow: number
}

/** What was measured on a server. */
export interface Measured {
  costs: ServerCosts
  sizes: TableSize[]
}

/** A statement that the server has run. */
interface Spent {
  sql: string
  micros: number
}

/**
 * Measures what the product's statements cost a MySQL server: the processor time that the server itself counts for each, which does
 * not depend on what else the machine does.
 */
export async function measureCosts(testbed: Testbed): Promise<Measured> {
  const server = testbed.server('mysql')
  const database = await server.createDatabase()
  const [before] = await server.query(
    `SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'events_statements_cpu'`,
  )
  const connections: Connection[] = []
  try {
    await createTables(server, database)
    await server.query(`UPDATE ${CONSUMER}`, ['YES'])
    const connect = async () => {
      const connection = await mysql.createConnection({
        uri: `${server.url}/${database}`,
        supportBigNumbers: true,
        bigNumberStrings: true,
        dateStrings: true,
        charset: 'utf8mb4',
        flags: ['FOUND_ROWS'],
        timezone: 'Z',
      })
      connections.push(connection)
      return new MeasuredConnection(connection)
    }
    const measured = await connect()
    await fillSlots({ server, database }, { counters: OTHER_SLOTS, slotsEach: 1, count: 0, idOf: () => random63() })
    await storeOtherNames(measured)
    const clients = await Promise.all(Array.from({ length: CLIENTS }, connect))
    const written = await writing(measured, testbed)
    const costs = { ...written, ...(await running(measured)) }
    const [hit, name] = await together(clients)
    costs.hitStatement = Math.max(0, hit - written.addedRow)
    costs.nameStatement = Math.max(0, name - written.knownNameRow)
    return { costs, sizes: await sizesOf(measured) }
  } finally {
    await Promise.allSettled(connections.map((connection) => connection.end()))
    await server.query(`UPDATE ${CONSUMER}`, [String(before?.ENABLED ?? 'NO')])
    await server.dropDatabase(database)
  }
}

/** One connection that notes what the server spent on each statement. */
class MeasuredConnection implements Database {
  readonly ranges = 1
  readonly spent: Spent[] = []
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async execute(sql: string, args: readonly unknown[] = []) {
    const [answer] = await this.#connection.query<RowDataPacket[] | ResultSetHeader>(sql, [...args])
    const [history] = await this.#connection.query<RowDataPacket[]>(
      `SELECT CPU_TIME / 1e6 AS micros FROM performance_schema.events_statements_history
       WHERE THREAD_ID = PS_CURRENT_THREAD_ID() ORDER BY EVENT_ID DESC LIMIT 1`,
    )
    this.spent.push({ sql: sql.trimStart(), micros: Number(history[0]!.micros) })
    if (Array.isArray(answer)) return { rows: answer as Record<string, unknown>[], rowsAffected: 0 }
    return { rows: [], rowsAffected: answer.affectedRows }
  }

  /** What the latest statements have spent on average, in microseconds. */
  async latest(statements: number): Promise<number> {
    const [rows] = await this.#connection.query<RowDataPacket[]>(
      `SELECT CPU_TIME / 1e6 AS micros FROM performance_schema.events_statements_history
       WHERE THREAD_ID = PS_CURRENT_THREAD_ID() ORDER BY EVENT_ID DESC LIMIT ${statements}`,
    )
    return rows.reduce((sum, { micros }) => sum + Number(micros), 0) / rows.length
  }

  /** Runs a statement without noting it. */
  send(sql: string): Promise<unknown> {
    return this.#connection.query(sql)
  }

  async transaction<T>(work: (transaction: Executor) => Promise<T>): Promise<T> {
    await this.execute('BEGIN')
    const value = await work(this)
    await this.execute('COMMIT')
    return value
  }

  /** What statements since the last call have spent. */
  take(): Spent[] {
    return this.spent.splice(0)
  }
}

/** What each row costs: the difference between statements with many rows and with one. */
async function writing(db: MeasuredConnection, { signal }: Testbed) {
  const medians = new Map<string, number[]>()
  for (const rows of ROWS) {
    const micros = new Map<string, number[]>()
    for (let n = 0; n < REPEATS; n++) {
      signal.throwIfAborted()
      const counters = Array.from({ length: rows }, () => {
        const id = random63()
        return { recordType: 1, recordId: id, name: `/articles/${id}` }
      })
      const slot = random63()
      const hit = () => {
        const batch = random63()
        const rows = counters.map(({ recordType, recordId }) => ({ recordType, recordId, slot, count: 1n, batch }))
        return applyBatch(db, rows.sort(byPrimaryKey), 24)
      }
      const empty = () =>
        db.execute(
          `UPDATE slotted_counters SET count = 0 WHERE slot = ${slot} AND record_id IN (${counters.map(({ recordId }) => recordId)})`,
        )
      const measure = async (what: string, work: () => Promise<unknown>) => {
        db.take()
        await work()
        const sum = db.take().reduce((sum, { micros }) => sum + micros, 0)
        micros.set(what, [...(micros.get(what) ?? []), sum])
      }
      await measure('inserted', hit)
      await measure('added', hit)
      await empty()
      await measure('refilled', hit)
      await empty()
      // As an isolate does that does not know the names.
      await measure('new name', () => storeNames(db, counters, NONE))
      await measure('known name', () => findNames(db, counters))
    }
    for (const [what, values] of micros) medians.set(what, [...(medians.get(what) ?? []), median(values)])
  }
  const row = (what: string) => {
    const [few, many] = medians.get(what)!
    return (many! - few!) / (ROWS[1] - ROWS[0])
  }
  return {
    hitStatement: 0,
    nameStatement: 0,
    insertedRow: row('inserted'),
    refilledRow: row('refilled'),
    addedRow: row('added'),
    newNameRow: row('new name'),
    knownNameRow: row('known name'),
  }
}

/** No name was found. */
const NONE = new Map<string, boolean>()

async function storeOtherNames(db: MeasuredConnection): Promise<void> {
  for (let first = 0; first < OTHER_NAMES; first += 500) {
    const names = Array.from({ length: 500 }, (_, n) => {
      return { recordType: 1, recordId: random63(), name: `/articles/${first + n}` }
    })
    await storeNames(db, names, NONE)
  }
}

/** What a statement with one hit, and one with a known name, cost while many clients send such statements. */
async function together(clients: readonly MeasuredConnection[]): Promise<[number, number]> {
  const mean = async (sqlOf: (client: number) => string) => {
    const micros = await Promise.all(
      clients.map(async (db, client) => {
        for (let n = 0; n < STATEMENTS_EACH; n++) await db.send(sqlOf(client))
        return db.latest(REMEMBERED)
      }),
    )
    return median(micros)
  }
  let hit = ''
  const executor = {
    async execute(sql: string) {
      hit = sql
      return { rows: [], rowsAffected: 0 }
    },
  }
  await applyBatch(executor, [{ recordType: 1, recordId: 1n, slot: 7n, count: 1n, batch: 9n }], 24)
  return [
    await mean((client) => hit.replace(',7,', `,${client},`).replace(',9,', `,${random63()},`)),
    await mean(
      (client) =>
        `SELECT record_type, record_id, gone_hour IS NOT NULL AS gone FROM counters FORCE INDEX (PRIMARY) WHERE record_type = 1 AND record_id IN (${client})`,
    ),
  ]
}

/** What rolling up and pruning cost, of counters that have been rolled up before. */
async function running(db: MeasuredConnection) {
  await db.execute('DELETE FROM slotted_counters WHERE count <> 0')
  const slots = COUNTERS * SLOTS_EACH
  const ids = Array.from({ length: COUNTERS }, () => random63())
  for (let first = 0; first < COUNTERS; first += 500) {
    const counters = ids
      .slice(first, first + 500)
      .map((id) => ({ recordType: 1, recordId: id, name: `/articles/${id}` }))
    await storeNames(db, counters, NONE)
  }
  const fill = async () => {
    for (let first = 0; first < COUNTERS; first += 500) {
      const rows = ids.slice(first, first + 500).flatMap((id) => {
        return Array.from(
          { length: SLOTS_EACH },
          (_, slot) => `(${counterValues({ recordType: 1, recordId: id })},${slot},1,1,FLOOR(UNIX_TIMESTAMP()/3600))`,
        )
      })
      await db.execute(
        `INSERT INTO slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until) VALUES ${rows} ON DUPLICATE KEY UPDATE count = 1`,
      )
    }
  }
  for (let times = 0; times < 2; times++) {
    await fill()
    db.take()
    await rollUp(db, { ...BUDGET, at: new Date() })
  }
  const ofRollUp = db.take()
  const pages = ofRollUp.filter(({ sql }) => sql === 'COMMIT').length
  const other = [/^BEGIN/, /^COMMIT/, /^INSERT INTO type_history/]
  const runStatement = other.reduce((sum, text) => sum + sumOf(ofRollUp, text), 0) / (other.length * pages)
  const each = (spent: Spent[], text: RegExp, rows: number) => {
    const statements = spent.filter(({ sql }) => text.test(sql)).length
    return Math.max(0, sumOf(spent, text) - statements * runStatement) / rows
  }
  await db.execute('UPDATE slotted_counters SET kept_until = 1')
  db.take()
  const { deleted } = await prune(db, { pageSlots: 2_000, maxStatements: 20 })
  const ofPruning = db.take()
  return {
    runStatement,
    readSlot: each(ofRollUp, /^SELECT .* FROM slotted_counters AS s FORCE INDEX \(pending\)/s, slots),
    subtractedSlot: each(ofRollUp, /^INSERT INTO slotted_counters/, slots),
    movedTotal: each(ofRollUp, /^INSERT INTO counters/, COUNTERS),
    movedHour: each(ofRollUp, /^INSERT INTO counter_history/, COUNTERS),
    movedPeriod: each(ofRollUp, /^INSERT INTO counter_periods/, 2 * COUNTERS),
    readOldSlot: each(ofPruning, /^SELECT .* FORCE INDEX \(pruning\)/s, deleted),
    deletedSlot: each(ofPruning, /^DELETE/, deleted),
  }
}

function sumOf(spent: readonly Spent[], text: RegExp): number {
  return spent.reduce((sum, { sql, micros }) => (text.test(sql) ? sum + micros : sum), 0)
}

async function sizesOf(db: MeasuredConnection): Promise<TableSize[]> {
  await db.execute('SET SESSION information_schema_stats_expiry = 0')
  const tables = ['slotted_counters', 'counters', 'counter_history', 'counter_periods']
  const sizes: TableSize[] = []
  for (const table of tables) {
    await db.execute(`ANALYZE TABLE ${table}`)
    const [row] = (
      await db.execute(
        `SELECT DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.tables WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'`,
      )
    ).rows
    const [counted] = (await db.execute(`SELECT COUNT(*) AS number FROM ${table}`)).rows
    const rows = Number(counted!.number)
    sizes.push({ table, rows, bytesPerRow: Number(row!.bytes) / rows })
  }
  return sizes
}

/** What each cost is, for the report. */
export const COST_NAMES: Record<CostName, string> = {
  hitStatement: 'a statement with hits, without its rows',
  insertedRow: 'a row of it: a new slot',
  refilledRow: 'a row of it: a slot that was empty',
  addedRow: 'a row of it: a slot that had a count',
  nameStatement: 'a statement with names, without its rows',
  newNameRow: 'a row of it: a new name',
  knownNameRow: 'a row of it: a name that was stored',
  runStatement: 'a statement of a roll-up, without its rows',
  readSlot: 'a slot that a roll-up reads',
  subtractedSlot: 'a slot that a roll-up empties',
  movedTotal: 'a total that a roll-up adds to',
  movedHour: 'an hour that a roll-up adds to',
  movedPeriod: 'a day or month that a roll-up adds to',
  readOldSlot: 'a slot that pruning reads',
  deletedSlot: 'a slot that pruning deletes',
}
