import type { LockWait } from './lock-waits.ts'
import { brief } from './locked-rows.ts'

const MAX_WAITS = 10

const BY_ROLL_UPS =
  'roll-ups, imports or changes of the same counters ran at once. Visitors do not wait for these rows.'
/** Why connections wait for rows of a table, and what to do about it. */
const ADVICE: Record<string, string> = {
  slotted_counters:
    'every writer has its own slot, so writers should not wait for each other. If a type has `slots = N` in ' +
    'wrangler.toml, remove it. Short waits during a roll-up are normal.',
  new_key_budgets: 'several writers added new keys at once. This passes.',
  visitor_salts: 'several isolates needed the salt of a new day at once. This passes.',
  counters: BY_ROLL_UPS,
  counter_history: BY_ROLL_UPS,
  counter_periods: BY_ROLL_UPS,
  type_history: BY_ROLL_UPS,
  rollup_state: BY_ROLL_UPS,
}

/**
 * Describes lock waits for people who do not know the inside of a database server.
 * @param samples the waits at several moments
 * @param seconds the time over which they were taken
 */
export function lockReport(
  samples: readonly (readonly LockWait[])[],
  rowName: (wait: LockWait) => string,
  seconds: number,
): string {
  const over = `${samples.length} samples over ${seconds.toFixed(1)} s`
  return [...now(samples.at(-1) ?? [], rowName), '', ...hotRows(samples, rowName, over)].join('\n')
}

function now(waits: readonly LockWait[], rowName: (wait: LockWait) => string): string[] {
  if (waits.length === 0) return ['Right now, no connection waits for a row.']
  const waiters = connectionsOf(waits)
  const lines = [
    `Right now, ${waiters === 1 ? 'one connection waits' : `${waiters} connections wait`} for rows that other transactions have locked:`,
  ]
  for (const wait of waits.slice(0, MAX_WAITS)) {
    lines.push(
      '',
      `  connection ${wait.waiting.connection} has waited ${wait.waiting.seconds} s for connection ${wait.holding.connection}`,
      `    row         ${rowName(wait)}`,
      `    waiting     ${brief(wait.waiting.statement ?? '(unknown)')}`,
      `    held by     ${holder(wait.holding)}`,
    )
  }
  if (waits.length > MAX_WAITS) lines.push('', `  … and ${waits.length - MAX_WAITS} more`)
  return lines
}

function holder({ statement, lastStatement, seconds }: LockWait['holding']): string {
  if (statement !== null) return `${brief(statement)} (transaction open for ${seconds} s)`
  const last = lastStatement === null ? '' : `; its last statement: ${brief(lastStatement)}`
  return `a transaction that has been open for ${seconds} s and is idle${last}`
}

function hotRows(samples: readonly (readonly LockWait[])[], rowName: (wait: LockWait) => string, over: string) {
  const seen = new Map<string, { samples: number; most: number; table: string }>()
  for (const sample of samples) {
    for (const [row, waits] of Map.groupBy(sample, rowName)) {
      const { samples, most } = seen.get(row) ?? { samples: 0, most: 0 }
      seen.set(row, { samples: samples + 1, most: Math.max(most, connectionsOf(waits)), table: waits[0]!.table })
    }
  }
  const hot = [...seen].sort(([, a], [, b]) => b.samples * b.most - a.samples * a.most).slice(0, MAX_WAITS)
  if (hot.length === 0) return [`Hot rows: none (no waits in ${over}).`]
  const rows = hot.map(([row, { samples, most }]) => {
    return `  in ${samples} samples, up to ${most} ${most === 1 ? 'connection' : 'connections'} waited for ${row}`
  })
  const advice = [...new Set(hot.map(([, { table }]) => table))].map((table) => {
    return `  ${table}: ${ADVICE[table] ?? 'this table does not belong to Slotted Counter.'}`
  })
  return [`Hot rows (in ${over}):`, ...rows, ...advice]
}

function connectionsOf(waits: readonly LockWait[]): number {
  return new Set(waits.map(({ waiting }) => waiting.connection)).size
}
