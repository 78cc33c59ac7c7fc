import { beforeAll, describe, expect, inject, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { fillTables, STATEMENTS, sendEveryStatement, statementOf } from '../harness/every-statement.ts'

/** A node of a plan, as VEXPLAIN PLAN describes it. */
interface PlanNode {
  OperatorType: string
  Variant?: string
  Inputs?: PlanNode[]
}

/** The shards that a query of a plan goes to, by the name that vtgate has for it (Vitess go/vt/vtgate/engine, Opcode). */
const SHARDS: Record<string, string> = {
  EqualUnique: 'single shard',
  IN: 'list',
  MultiEqual: 'list',
  // An INSERT goes to the shards of its rows.
  Sharded: 'list',
  Between: 'range',
  Scatter: 'all shards',
  // What information_schema says about one of the shards.
  DBA: 'any shard',
}

/** What the Worker sends only to Vitess. */
const OF_VITESS = {
  'SELECT DATABASE() AS keyspace': '',
  'SHOW VITESS_SHARDS': 'none',
}

/** Operations on the rows of the queries below, each of which is sent once. Others, such as joins, send one for each row. */
const OF_ROWS = new Set([
  'Aggregate',
  'Concatenate',
  'Distinct',
  'Filter',
  'Limit',
  'Projection',
  'SimpleProjection',
  'Sort',
  'UncorrelatedSubquery',
])

/** VEXPLAIN does not know these. They concern no rows. */
const WITHOUT_PLAN = /^(BEGIN|COMMIT|ROLLBACK|SHOW)\b/i

/** What holds locks, and must not wait for locks of another shard. */
const LOCKS = /^(INSERT|UPDATE|DELETE)\b|\bFOR (UPDATE|SHARE)\b/i

/** Describes a plan by its queries. With more than one, they see different snapshots. */
function describePlan(plan: PlanNode): string {
  const queries = queriesOf(plan)
  return new Set(queries).size === 1 && queries.length > 1 ? `${queries.length} × ${queries[0]}` : queries.join(' + ')
}

function queriesOf({ OperatorType: operator, Variant: variant = '', Inputs: inputs = [] }: PlanNode): string[] {
  if (OF_ROWS.has(operator)) return inputs.flatMap(queriesOf)
  // FROM dual, and no FROM, need no shard.
  if (operator === 'SingleRow' || (operator === 'Route' && variant === 'Reference')) return []
  if (operator === 'Insert' && variant === 'Select') return ['list', ...inputs.flatMap(queriesOf)]
  const isQuery = ['Route', 'Insert', 'Update', 'Delete'].includes(operator)
  return [(isQuery && SHARDS[variant]) || `${[operator, variant].join(' ')}(${inputs.map(describePlan).join(', ')})`]
}

// One shard has nothing to choose from.
describe.skipIf(inject('ranges') === 1)('On shards, every statement that the Worker sends', () => {
  let db: TestDatabase
  let statements: string[]

  beforeAll(async () => {
    db = await freshDatabase()
    await fillTables(db, { idle: 1_200 })
    statements = (await sendEveryStatement(db)).map(({ sql }) => sql)
  })

  it('has the listed plan, and none is a join by vtgate', async () => {
    const found = new Map<string, Set<string>>()
    for (const sql of statements) {
      const statement = statementOf(sql)
      const plan = WITHOUT_PLAN.test(sql) ? 'none' : await planOf(db, sql)
      if (/^(BEGIN|COMMIT|ROLLBACK)\b/i.test(sql)) continue
      found.set(statement, (found.get(statement) ?? new Set()).add(plan))
    }
    const plans = Object.fromEntries(
      [...found].map(([statement, plans]) => [statement, [...plans].sort().join(' or ')]),
    )
    expect(plans).toEqual({ ...STATEMENTS, ...OF_VITESS })
    expect(Object.values(plans).filter((plan) => plan.includes('('))).toEqual([])
  })

  it('stays within one shard if it takes locks', async () => {
    // Without the rows of the first database, each can be sent again.
    const empty = await freshDatabase()
    const spanning: object[] = []
    for (const sql of statements.filter((sql) => LOCKS.test(sql))) {
      const shards = await shardsOf(empty, sql)
      if (shards.length !== 1) spanning.push({ shards, sql: sql.slice(0, 300) })
    }
    expect(spanning).toEqual([])
  })
})

async function planOf(db: TestDatabase, sql: string): Promise<string> {
  const { rows } = await db
    .execute(`VEXPLAIN PLAN ${sql}`)
    .catch((error: Error) => ({ rows: [{ error: error.message }] }))
  const { JSON: plan, error } = rows[0] as { JSON?: string; error?: string }
  return plan ? describePlan(JSON.parse(plan) as PlanNode) : `(${error})`
}

/** Runs a statement, rolls it back, and returns the shards that it went to. */
async function shardsOf(db: TestDatabase, sql: string): Promise<string[]> {
  const shards = new Set<string>()
  const undo = new Error('undo')
  await db
    .transaction(async (transaction) => {
      const { rows } = await transaction.execute(`VEXPLAIN /*vt+ EXECUTE_DML_QUERIES */ QUERIES ${sql}`)
      for (const { shard } of rows) shards.add(String(shard))
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) shards.add(String(error))
    })
  return [...shards]
}
