/** A deadlock, as the server reports it. */
export interface Deadlock {
  at: string
  /** The statements that blocked each other, in the server's order. */
  statements: string[]
  /** The number of the statement that was rolled back, counted from 1; `null` if the server does not say. */
  rolledBack: number | null
  /** Table and key of the rows that they waited for. */
  rows: string[]
  /** Whether it was in the given database. */
  inDatabase: boolean
}

/**
 * Finds the latest deadlock in the text of `SHOW ENGINE INNODB STATUS`.
 *
 * @returns `null` if there was none since the server started
 */
export function latestDeadlock(status: string, database: string): Deadlock | null {
  const [, section] = /LATEST DETECTED DEADLOCK\n-+\n([\s\S]*?)\n-{3,}\nTRANSACTIONS\n/.exec(status) ?? []
  if (section === undefined) return null
  const rolledBack = /WE ROLL BACK TRANSACTION \((\d+)\)/.exec(section)?.[1]
  // A statement is between the line about its connection and the next heading.
  const statements = [
    ...section.matchAll(/^(?:MySQL|MariaDB) thread id .*\n([\s\S]*?)(?=\n\*\*\*|\nRECORD LOCKS|\n*$(?![\s\S]))/gm),
  ]
  const rows = [...section.matchAll(/index `?([\w]+)`? of table `([^`]+)`\.`([^`]+)`/g)]
  return {
    at: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.exec(section)?.[0] ?? 'at an unknown time',
    statements: statements.map(([, statement = '']) => statement.trim()).filter((statement) => statement !== ''),
    rolledBack: rolledBack === undefined ? null : Number(rolledBack),
    rows: [...new Set(rows.map(([, index, , table]) => `${table}, key ${index}`))],
    inDatabase: [database, `vt_${database}`].some((schema) => section.includes(`\`${schema}\`.`)),
  }
}
