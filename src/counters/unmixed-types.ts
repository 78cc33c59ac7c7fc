import type { Executor } from '../database/database.ts'
import { MIXED_TYPES } from './integer-key.ts'

/**
 * Of some types with integer keys, those with counters from before their numbers were mixed. `npm run migrate` moves them.
 *
 * @param types with their record types in the database
 */
export async function unmixedTypes<Type extends { recordType: number }>(
  db: Executor,
  types: readonly Type[],
): Promise<Type[]> {
  const found: Type[] = []
  for (const type of types) {
    const where = `WHERE record_type = ${type.recordType - MIXED_TYPES} LIMIT 1`
    const { rows } = await db.execute(
      `(SELECT 1 FROM counter_totals ${where}) UNION ALL (SELECT 1 FROM slotted_counters ${where})`,
    )
    if (rows.length > 0) found.push(type)
  }
  return found
}
