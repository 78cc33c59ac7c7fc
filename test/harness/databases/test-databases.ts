/** Where the tests of a run get their databases. */
export interface TestDatabases {
  /** What they are on, for the log. */
  readonly description: string
  /** The number of ranges with which the Worker must open them: the number of their shards. */
  readonly ranges: number
  /**
   * Provides a database that nothing else uses. With `migrated`, it has all tables and no rows but those of the migrations.
   * Without, it is empty.
   */
  take(options: { migrated: boolean }): Promise<{ name: string; databaseUrl: string }>
  /** Ends the use of a database. Its URL no longer works if others get it. */
  giveBack(name: string): Promise<void>
  /** Ends the use of all databases, and removes what this run has made. */
  close(): Promise<void>
}
