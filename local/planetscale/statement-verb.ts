/** A regular expression for a comment. */
export const COMMENT = String.raw`/\*(?:[^*]|\*(?!/))*\*/|--(?:[^\S\n][^\n]*)?\n|#[^\n]*\n`

// The first word after blanks and comments. ROLLBACK TO returns to a savepoint and ends no transaction.
const VERB = new RegExp(String.raw`^(?:\s|${COMMENT})*(\w+(?:\s+TRANSACTION\b|\s+(?:WORK\s+)?TO\b)?)`, 'i')

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE'])

/** The verb of a statement, in capitals: `COMMIT`, `START TRANSACTION`, `ROLLBACK TO`. */
export function verbOf(sql: string): string {
  return (VERB.exec(sql)?.[1] ?? '').toUpperCase().replace(/\s+/g, ' ')
}

/** Whether a statement changes rows. */
export function isWrite(sql: string): boolean {
  return WRITES.has(verbOf(sql))
}

const DDL = new Set(['CREATE', 'ALTER', 'DROP', 'TRUNCATE', 'RENAME'])

/** Whether a statement changes tables. */
export function isDdl(sql: string): boolean {
  return DDL.has(verbOf(sql))
}
