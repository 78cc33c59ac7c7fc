import { visibleKey } from '../../src/visible-key.ts'
import type { DatabaseConnection } from '../database-connection.ts'
import type { LockWait } from './lock-waits.ts'

/** Characters of a statement or a key that are shown. */
const MAX_CHARACTERS = 160
const MAX_KEYS = 100

/**
 * Reads what names the rows of waits, as far as the database user may see it.
 * @returns names a row by its columns, and by the key of its counter if it belongs to one
 */
export async function nameRows(
  db: DatabaseConnection,
  waits: readonly LockWait[],
): Promise<(wait: LockWait) => string> {
  const columns = await readIndexColumns(db).catch(() => new Map<string, string[]>())
  const cellsOf = ({ table, index, row }: LockWait) => {
    const titles = columns.get(`${table}.${index ?? 'PRIMARY'}`) ?? []
    return (row ?? '').split(', ').map((value, i): [string, string] => [titles[i] ?? 'value', value])
  }
  const counterOf = (wait: LockWait) => {
    const cells = new Map(cellsOf(wait))
    return `${cells.get('record_type')}, ${cells.get('record_id')}`
  }
  const counters = [...new Set(waits.map(counterOf))].filter((counter) => /^\d{1,5}, \d{1,20}$/.test(counter))
  const keys = await readKeys(db, counters.slice(0, MAX_KEYS)).catch(() => new Map<string, string>())
  return (wait) => {
    const { table, index, row } = wait
    const where = index === null || index === 'PRIMARY' ? table : `${table}, in key ${index}`
    if (row === null) return `${where}, unknown row`
    if (row.includes('supremum')) return `${where}, the gap after its last row`
    const key = keys.get(counterOf(wait))
    const cells = cellsOf(wait).map((cell) => cell.join(' '))
    return `${where}, ${cells.join(', ')}${key === undefined ? '' : ` ("${brief(visibleKey(key))}")`}`
  }
}

/**
 * The columns of each index of the current database, by `table.index`. A secondary index ends with the columns of the
 * primary key that it does not name itself.
 */
async function readIndexColumns(db: DatabaseConnection): Promise<Map<string, string[]>> {
  const rows = await db.execute(
    `SELECT TABLE_NAME AS tbl, INDEX_NAME AS idx, COLUMN_NAME AS col FROM information_schema.STATISTICS
     WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
  )
  const indexes = Map.groupBy(rows, ({ tbl, idx }) => `${tbl}.${idx}`)
  const columnsOf = (index: string) => indexes.get(index)?.map(({ col }) => String(col)) ?? []
  const withPrimary = (index: string) => columnsOf(index).concat(columnsOf(`${index.split('.')[0]}.PRIMARY`))
  return new Map([...indexes.keys()].map((index) => [index, [...new Set(withPrimary(index))]]))
}

/** The keys of counters. @param counters SQL of their types and ids, by which the keys are found */
async function readKeys(db: DatabaseConnection, counters: readonly string[]): Promise<Map<string, string>> {
  if (counters.length === 0) return new Map()
  const rows = await db.execute(
    `SELECT CONCAT(record_type, ', ', record_id) AS counter, CONVERT(name USING utf8mb4) AS name FROM counters
     WHERE (record_type, record_id) IN (${counters.map((counter) => `(${counter})`).join(', ')})`,
  )
  return new Map(rows.map(({ counter, name }) => [String(counter), String(name)]))
}

/** A statement or a key on one line, cut if it is long. */
export function brief(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1)}…` : line
}
