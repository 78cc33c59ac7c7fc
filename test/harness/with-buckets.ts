import { bucketSql } from '../../bench/harness/bucket-sql.ts'
import { bucketOf } from '../../src/database/buckets.ts'

const INSERT = /^\s*INSERT (?:IGNORE )?INTO \w+ \(([^)]*)\)\s*(?=(VALUES|SELECT)\s)/
const IDS = ['record_id', 'range_lane', 'range_start']

/** Adds the buckets to an INSERT that a test has written without them: of rows that are listed, or selected. */
export function withBuckets(sql: string, args: readonly unknown[] = []): string {
  const [head, columns, verb] = INSERT.exec(sql) ?? []
  const names = columns?.split(',').map((name) => name.trim()) ?? []
  const place = names.findIndex((name) => IDS.includes(name))
  if (place < 0 || names.includes('bucket')) return sql
  const opened = head!.replace(columns!, `${columns}, bucket`)
  const before = (text: string) => text.split('?').length - 1
  let written = ''
  let rest = sql.slice(head!.length)
  // Each row ends with its bracket, and a selected one with FROM.
  for (const end of verb === 'SELECT' ? [rest.search(/\sFROM\s/)] : endsOfRows(rest)) {
    const row = rest.slice(0, end - (sql.length - head!.length - rest.length))
    const from = verb === 'SELECT' ? 'SELECT'.length : row.indexOf('(') + 1
    const items = itemsOf(row.slice(from))
    const id = items[place]!.trim()
    const given = id === '?' ? args[before(written + items.slice(0, place).join())] : id
    const bucket = /^\d+$/.test(String(given)) ? bucketOf(BigInt(String(given))) : bucketSql(id)
    written += `${row}, ${bucket}`
    rest = rest.slice(row.length)
  }
  return opened + written + rest
}

/** Where the brackets are that close rows. */
function endsOfRows(text: string): number[] {
  const ends: number[] = []
  scan(text, (character, depth, at) => {
    if (character === ')' && depth === 0) ends.push(at)
  })
  // What follows the rows may have brackets too.
  const upsert = text.lastIndexOf('ON DUPLICATE KEY')
  return upsert < 0 ? ends : ends.filter((at) => at < upsert)
}

function itemsOf(row: string): string[] {
  const commas: number[] = []
  scan(row, (character, depth, at) => {
    if (character === ',' && depth === 0) commas.push(at)
  })
  return [-1, ...commas].map((at, i) => row.slice(at + 1, commas[i] ?? row.length))
}

/** Visits what is not in quotes, with the number of brackets around it. */
function scan(text: string, visit: (character: string, depth: number, at: number) => void): void {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === "'") quoted = !quoted
    if (quoted) continue
    if (character === '(') depth++
    if (character === ')') depth--
    visit(character, depth, at)
  }
}
