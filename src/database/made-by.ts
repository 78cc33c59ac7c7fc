/** What a statement of a migration makes, as `table t`, `column t.c` and `index t.i`. */
export interface Made {
  /** What there is once the statement is done. */
  does: readonly string[]
  /** The columns and indexes that come with a table. */
  contains: readonly string[]
}

/**
 * Reads what a statement makes. Knows the forms in which our migrations are written: CREATE TABLE IF NOT EXISTS, and ALTER TABLE
 * that adds columns and keys. Both may be repeated, and what they make can be looked up.
 *
 * @throws {Error} for any other statement
 */
export function madeBy(statement: string): Made {
  const all = (pattern: RegExp, name: (found: string) => string) =>
    [...statement.matchAll(pattern)].map(([, found]) => name(found!))
  const [, created] = /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement) ?? []
  if (created !== undefined) {
    return {
      does: [`table ${created}`],
      contains: [
        // Columns are in lower case, keywords in capitals.
        ...all(/^\s+([a-z_]+) [A-Z]/gm, (column) => `column ${created}.${column}`),
        ...all(/^\s+KEY (\w+)/gm, (index) => `index ${created}.${index}`),
      ],
    }
  }
  const [, altered] = /^ALTER TABLE (\w+)/.exec(statement) ?? []
  const does = [
    ...all(/\bADD COLUMN (\w+)/g, (column) => `column ${altered}.${column}`),
    ...all(/\bADD KEY (\w+)/g, (index) => `index ${altered}.${index}`),
  ]
  if (altered === undefined || does.length === 0) {
    throw new Error(`A migration may only make tables and add columns and keys, not: ${statement.split('\n')[0]}`)
  }
  return { does, contains: [] }
}
