import type { Context } from 'hono'
import type { Database } from '../database/database.ts'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

/** The isolate's database, measured if the path is timed. */
export function databaseOf(c: Context<AppEnv>): Database {
  const { db } = isolateOf(c.env)
  return c.get('databaseTime')?.of(db) ?? db
}
