/** The latest deadlock that a server remembers. */
export interface Deadlock {
  at: string
  /** The statements that stood in each other's way, in the server's order. */
  statements: string[]
  /** Which of them was undone, counted from 1; `null`: not told. */
  undone: number | null
  /** `table, key` of the rows they wanted. */
  wanted: string[]
  /** Whether it was in a given database. */
  here: boolean
}

/**
 * Finds the latest deadlock in what `SHOW ENGINE INNODB STATUS` prints; `null`: there was none since the server started.
 *
 * @param database the one that the reader is interested in
 */
export function latestDeadlock(status: string, database: string): Deadlock | null {
  const [, section] = /LATEST DETECTED DEADLOCK\n-+\n([\s\S]*?)\n-{3,}\nTRANSACTIONS\n/.exec(status) ?? []
  if (section === undefined) return null
  const undone = /WE ROLL BACK TRANSACTION \((\d+)\)/.exec(section)?.[1]
  // A statement follows the line about its connection, up to the next heading.
  const statements = [
    ...section.matchAll(/^(?:MySQL|MariaDB) thread id .*\n([\s\S]*?)(?=\n\*\*\*|\nRECORD LOCKS|\n*$(?![\s\S]))/gm),
  ]
  const wanted = [...section.matchAll(/index `?([\w]+)`? of table `([^`]+)`\.`([^`]+)`/g)]
  return {
    at: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.exec(section)?.[0] ?? 'at an unknown time',
    statements: statements.map(([, statement = '']) => statement.trim()).filter((statement) => statement !== ''),
    undone: undone === undefined ? null : Number(undone),
    wanted: [...new Set(wanted.map(([, index, , table]) => `${table}, key ${index}`))],
    here: [database, `vt_${database}`].some((schema) => section.includes(`\`${schema}\`.`)),
  }
}
