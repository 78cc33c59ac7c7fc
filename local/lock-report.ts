import type { Deadlock } from './deadlock.ts'
import type { LockParty, LockTotals, LockWait } from './lock-waits.ts'

/** What could be found out; an `Error` stands for what the server would not tell. */
export interface LockFindings {
  /** What is waited for, at each of several looks. */
  looks: readonly (readonly LockWait[])[] | Error
  totals: LockTotals | Error
  deadlock: Deadlock | null | Error
  /** Columns of each index, by `table.index`. */
  columns: ReadonlyMap<string, readonly string[]>
  /** Keys of counters, by `record_type record_id`. */
  names: ReadonlyMap<string, string>
  /** Seconds over which was looked. */
  seconds: number
}

/** Statements are shown up to here: their first rows tell what they are. */
const MAX_STATEMENT = 160
const MAX_WAITS = 10

/** What the findings mean, for people who do not know the server's inside. */
export function lockReport(findings: LockFindings): string {
  return [...now(findings), '', ...hotRows(findings), '', ...since(findings), '', ...deadlock(findings)].join('\n')
}

function now({ looks, columns, names }: LockFindings): string[] {
  if (looks instanceof Error) return [`Who waits for whom: ${refusal(looks)}`]
  const waits = looks.at(-1) ?? []
  if (waits.length === 0) return ['Right now nobody waits for a row.']
  const waiters = new Set(waits.map(({ waiting }) => waiting.connection)).size
  const lines = [
    `Right now ${waiters === 1 ? 'one connection waits' : `${waiters} connections wait`} for rows that others have changed and not yet committed:`,
  ]
  for (const wait of waits.slice(0, MAX_WAITS)) {
    lines.push(
      '',
      `  connection ${wait.waiting.connection} has waited ${wait.waiting.seconds} s for connection ${wait.holding.connection}`,
      `    the row     ${rowName(wait, columns, names)}`,
      `    it wants    ${brief(wait.waiting.statement ?? '(not told)')}`,
      `    held by     ${holder(wait.holding)}`,
    )
  }
  if (waits.length > MAX_WAITS) lines.push('', `  … and ${waits.length - MAX_WAITS} more`)
  return lines
}

function holder({ statement, lastStatement, seconds }: LockParty): string {
  if (statement !== null) return `${brief(statement)} (transaction open for ${seconds} s)`
  const last = lastStatement === null ? '' : `; its last statement: ${brief(lastStatement)}`
  return `a transaction that has been open for ${seconds} s and runs nothing at this moment${last}`
}

function hotRows({ looks, columns, names, seconds }: LockFindings): string[] {
  if (looks instanceof Error) return ['Hot rows: unknown, for the same reason.']
  const seen = new Map<string, { looks: number; most: number; table: string }>()
  for (const look of looks) {
    const here = new Map<string, Set<string>>()
    for (const wait of look) {
      const row = rowName(wait, columns, names)
      here.set(row, (here.get(row) ?? new Set()).add(wait.waiting.connection))
      seen.set(row, seen.get(row) ?? { looks: 0, most: 0, table: wait.table })
    }
    for (const [row, waiters] of here) {
      const entry = seen.get(row)!
      entry.looks++
      entry.most = Math.max(entry.most, waiters.size)
    }
  }
  const hot = [...seen].sort(([, a], [, b]) => b.looks * b.most - a.looks * a.most).slice(0, MAX_WAITS)
  const over = `${looks.length} looks within ${seconds.toFixed(1)} s`
  if (hot.length === 0) return [`Hot rows: none (nobody was seen waiting in ${over}).`]
  return [
    `Hot rows (seen in ${over}):`,
    ...hot.map(([row, { looks, most }]) => `  waited for in ${looks}, by up to ${most} at once: ${row}`),
    ...[...new Set(hot.map(([, { table }]) => table))].map((table) => `  ${advice(table)}`),
  ]
}

/** What waiting for a row of a table means, and what to do about it. */
function advice(table: string): string {
  switch (table) {
    case 'slotted_counters':
      return (
        'slotted_counters: writers should never meet there, for every writer has a slot of its own. If a type has `slots = N` in ' +
        'wrangler.toml, leave it out. Short waits during a roll-up are normal.'
      )
    case 'counter_names':
      return 'counter_names: several writers met a new key at once. That passes.'
    case 'counter_totals':
    case 'counter_history':
    case 'counter_periods':
    case 'type_history':
    case 'rollup_state':
      return `${table}: roll-ups, imports or settings of the same counters at once. Visitors do not wait there.`
    default:
      return `${table}: not a table of Slotted Counter.`
  }
}

function since({ totals }: LockFindings): string[] {
  if (totals instanceof Error) return [`Since the server started: ${refusal(totals)}`]
  const { waits, averageMs, longestMs, deadlocks, timeouts, upSeconds } = totals
  return [
    `Since the server started, ${duration(upSeconds)} ago, in all its databases:`,
    `  ${waits} waits for a row${waits > 0 ? `, of ${averageMs} ms on average and ${longestMs} ms at most` : ''}`,
    `  ${deadlocks ?? 'an unknown number of'} deadlocks${timeouts === null ? '' : `, ${timeouts} waits given up`}`,
  ]
}

function deadlock({ deadlock }: LockFindings): string[] {
  if (deadlock instanceof Error) return [`The latest deadlock: ${refusal(deadlock)}`]
  if (deadlock === null) return ['The latest deadlock: none is remembered.']
  if (!deadlock.here) return [`The latest deadlock (${deadlock.at}) was in another database.`]
  return [
    `The latest deadlock, ${deadlock.at}: statements that each held a row the other one wanted. The server undid one; the Worker repeats it.`,
    ...deadlock.statements.map(
      (statement, i) => `  ${i + 1}${i + 1 === deadlock.undone ? ' (undone)' : ''}: ${brief(statement)}`,
    ),
    ...(deadlock.wanted.length > 0 ? [`  rows of ${deadlock.wanted.join('; ')}`] : []),
  ]
}

/** A row by its columns, and the counter's key if it is one's. */
export function rowName(
  { table, index, row }: LockWait,
  columns: LockFindings['columns'],
  names: LockFindings['names'],
): string {
  const key = index === null || index === 'PRIMARY' ? '' : `, in key ${index}`
  if (row === null) return `${table}${key}, which row is not told`
  if (row.includes('supremum')) return `${table}${key}, the place after its last row`
  const values = row.split(', ')
  const titles = columns.get(`${table}.${index ?? 'PRIMARY'}`) ?? []
  const at = (title: string) => values[titles.indexOf(title)]
  const name = names.get(`${at('record_type')} ${at('record_id')}`)
  const where = values.map((value, i) => `${titles[i] ?? 'value'} ${value}`).join(', ')
  return `${table}${key}, ${where}${name === undefined ? '' : ` (${brief(JSON.stringify(name))})`}`
}

/** The counters whose rows are waited for, as `record_type record_id`. */
export function countersAmong(waits: readonly LockWait[], columns: LockFindings['columns']): string[] {
  const counters = waits.flatMap(({ table, index, row }) => {
    const titles = columns.get(`${table}.${index ?? 'PRIMARY'}`) ?? []
    const values = row?.split(', ') ?? []
    const [type, id] = ['record_type', 'record_id'].map((title) => values[titles.indexOf(title)] ?? '')
    return /^\d{1,5} \d{1,20}$/.test(`${type} ${id}`) ? [`${type} ${id}`] : []
  })
  return [...new Set(counters)].slice(0, 100)
}

/** Why the server would not tell, in words. */
function refusal(error: Error): string {
  const reason = error.message.replace(/\s+/g, ' ').slice(0, 200)
  return `not to be seen here. The database user may not look at it, or the service does not offer it (${reason}).`
}

function brief(statement: string): string {
  const text = statement.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  return text.length > MAX_STATEMENT ? `${text.slice(0, MAX_STATEMENT - 1)}…` : text
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
