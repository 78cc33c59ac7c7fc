import type { RecordedStatement } from '../../local/planetscale/fault-injection.ts'
import { rangeOf } from '../../src/counters/ranges.ts'

// Every statement that writes lists rows as (record_type,record_id,…), or names record ids.
const ROW = /\((\d+), ?(\d+), ?(?:\d|-|'|x')/g

/** The writing statements among those recorded that have rows in more than one range. Record ids are taken from their text. */
export function writesAcrossRanges(statements: readonly RecordedStatement[], ranges: number): string[] {
  return statements.flatMap(({ sql }) => {
    if (!/^(INSERT|UPDATE|DELETE)/.test(sql) || /type_history|rollup_state/.test(sql)) return []
    const found = new Set(
      [...sql.replace(/ bucket IN \([\d,]+\)/g, '').matchAll(ROW)].map(([, , recordId]) =>
        rangeOf(BigInt(recordId!), ranges),
      ),
    )
    return found.size > 1 ? [sql.slice(0, 300)] : []
  })
}
