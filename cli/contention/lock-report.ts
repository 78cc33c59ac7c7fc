import { visibleKey } from '../../src/visible-key.ts'
import type { LockParty, LockWait } from './lock-waits.ts'

/** What the server reported. */
export interface LockFindings {
  /** The lock waits at several moments, or why they are unknown. */
  samples: readonly (readonly LockWait[])[] | Error
  /** Columns of each index, by `table.index`. */
  columns: ReadonlyMap<string, readonly string[]>
  /** Keys of counters, by `record_type record_id`. */
  names: ReadonlyMap<string, string>
  /** Seconds over which the samples were taken. */
  seconds: number
}

/** Characters of a statement that are shown. */
const MAX_STATEMENT = 160
const MAX_WAITS = 10

/** Describes the findings for people who do not know the inside of a database server. */
export function lockReport(findings: LockFindings): string {
  return [...now(findings), '', ...hotRows(findings)].join('\n')
}

function now({ samples, columns, names }: LockFindings): string[] {
  if (samples instanceof Error) return [`Lock waits: ${refusal(samples)}`]
  const waits = samples.at(-1) ?? []
  if (waits.length === 0) return ['Right now, no connection waits for a row.']
  const waiters = new Set(waits.map(({ waiting }) => waiting.connection)).size
  const lines = [
    `Right now, ${waiters === 1 ? 'one connection waits' : `${waiters} connections wait`} for rows that other transactions have locked:`,
  ]
  for (const wait of waits.slice(0, MAX_WAITS)) {
    lines.push(
      '',
      `  connection ${wait.waiting.connection} has waited ${wait.waiting.seconds} s for connection ${wait.holding.connection}`,
      `    row         ${rowName(wait, columns, names)}`,
      `    waiting     ${brief(wait.waiting.statement ?? '(unknown)')}`,
      `    held by     ${holder(wait.holding)}`,
    )
  }
  if (waits.length > MAX_WAITS) lines.push('', `  … and ${waits.length - MAX_WAITS} more`)
  return lines
}

function holder({ statement, lastStatement, seconds }: LockParty): string {
  if (statement !== null) return `${brief(statement)} (transaction open for ${seconds} s)`
  const last = lastStatement === null ? '' : `; its last statement: ${brief(lastStatement)}`
  return `a transaction that has been open for ${seconds} s and is idle${last}`
}

function hotRows({ samples, columns, names, seconds }: LockFindings): string[] {
  if (samples instanceof Error) return ['Hot rows: unknown, for the same reason.']
  const seen = new Map<string, { samples: number; most: number; table: string }>()
  for (const sample of samples) {
    const here = new Map<string, Set<string>>()
    for (const wait of sample) {
      const row = rowName(wait, columns, names)
      here.set(row, (here.get(row) ?? new Set()).add(wait.waiting.connection))
      seen.set(row, seen.get(row) ?? { samples: 0, most: 0, table: wait.table })
    }
    for (const [row, waiters] of here) {
      const entry = seen.get(row)!
      entry.samples++
      entry.most = Math.max(entry.most, waiters.size)
    }
  }
  const hot = [...seen].sort(([, a], [, b]) => b.samples * b.most - a.samples * a.most).slice(0, MAX_WAITS)
  const over = `${samples.length} samples over ${seconds.toFixed(1)} s`
  if (hot.length === 0) return [`Hot rows: none (no waits in ${over}).`]
  return [
    `Hot rows (in ${over}):`,
    ...hot.map(
      ([row, { samples, most }]) =>
        `  in ${samples} samples, up to ${most} ${most === 1 ? 'connection' : 'connections'} waited for ${row}`,
    ),
    ...[...new Set(hot.map(([, { table }]) => table))].map((table) => `  ${advice(table)}`),
  ]
}

/** Why connections wait for rows of a table, and what to do about it. */
function advice(table: string): string {
  switch (table) {
    case 'slotted_counters':
      return (
        'slotted_counters: every writer has its own slot, so writers should not wait for each other. If a type has `slots = N` in ' +
        'wrangler.toml, remove it. Short waits during a roll-up are normal.'
      )
    case 'new_key_budgets':
      return `${table}: several writers added new keys at once. This passes.`
    case 'visitor_salts':
      return 'visitor_salts: several isolates needed the salt of a new day at once. This passes.'
    case 'counters':
    case 'counter_history':
    case 'counter_periods':
    case 'type_history':
    case 'rollup_state':
      return `${table}: roll-ups, imports or changes of the same counters ran at once. Visitors do not wait for these rows.`
    default:
      return `${table}: this table does not belong to Slotted Counter.`
  }
}

/** Names a row by its columns, and by the key of its counter if it belongs to one. */
function rowName(
  { table, index, row }: LockWait,
  columns: LockFindings['columns'],
  names: LockFindings['names'],
): string {
  const key = index === null || index === 'PRIMARY' ? '' : `, in key ${index}`
  if (row === null) return `${table}${key}, unknown row`
  if (row.includes('supremum')) return `${table}${key}, the gap after its last row`
  const values = row.split(', ')
  const titles = columns.get(`${table}.${index ?? 'PRIMARY'}`) ?? []
  const at = (title: string) => values[titles.indexOf(title)]
  const name = names.get(`${at('record_type')} ${at('record_id')}`)
  const where = values.map((value, i) => `${titles[i] ?? 'value'} ${value}`).join(', ')
  return `${table}${key}, ${where}${name === undefined ? '' : ` ("${brief(visibleKey(name))}")`}`
}

/** The counters of the rows that connections wait for, as `record_type record_id`. At most 100. */
export function countersAmong(waits: readonly LockWait[], columns: LockFindings['columns']): string[] {
  const counters = waits.flatMap(({ table, index, row }) => {
    const titles = columns.get(`${table}.${index ?? 'PRIMARY'}`) ?? []
    const values = row?.split(', ') ?? []
    const [type, id] = ['record_type', 'record_id'].map((title) => values[titles.indexOf(title)] ?? '')
    return /^\d{1,5} \d{1,20}$/.test(`${type} ${id}`) ? [`${type} ${id}`] : []
  })
  return [...new Set(counters)].slice(0, 100)
}

function refusal(error: Error): string {
  const reason = error.message.replace(/\s+/g, ' ').slice(0, 200)
  return `not available. The database user may lack the right to see it, or the service does not offer it (${reason}).`
}

function brief(statement: string): string {
  const text = statement.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  return text.length > MAX_STATEMENT ? `${text.slice(0, MAX_STATEMENT - 1)}…` : text
}
