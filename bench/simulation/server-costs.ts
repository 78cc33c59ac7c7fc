/** What statements cost the database: microseconds of one processor. `server-costs` measures them. */
export interface ServerCosts {
  /** A statement that writes hits, without its rows. */
  hitStatement: number
  /** A row of it: new, empty until now, or one that had a count. */
  insertedRow: number
  refilledRow: number
  addedRow: number
  /** A statement that stores names, and each row of it that is new, or was stored before. */
  nameStatement: number
  newNameRow: number
  knownNameRow: number
  /** Any other statement of a background run. */
  runStatement: number
  /** For each pending slot, what the roll-up takes to read it, and to subtract what it read. */
  readSlot: number
  subtractedSlot: number
  /** For each counter of a page, what the roll-up takes for its total, its hour, and its day and month. */
  movedTotal: number
  movedHour: number
  movedPeriod: number
  /** For each slot that pruning reads, and deletes. */
  readOldSlot: number
  deletedSlot: number
}

export type CostName = keyof ServerCosts
