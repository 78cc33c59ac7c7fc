import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { toText } from '../../database/text.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { Overtaken } from '../ledger/totals.ts'
import { type Parcel, packParcel, unpackParcel } from './parcel.ts'

/** The kinds of transfers, with their numbers in the database. */
const TRANSFERS = { delete: 1, rename: 2, merge: 3 } as const
export type TransferKind = keyof typeof TRANSFERS
const KINDS = Object.keys(TRANSFERS) as TransferKind[]

export const ROLES = { source: 1, target: 2 } as const
export const STAGES = { taking: 1, taken: 2, finished: 3 } as const

/** The address of a counter, without its name. */
export type Place = Pick<CounterAddress, 'recordType' | 'recordId'>

/** What the row of a counter says about a transfer. */
export interface TransferRecord {
  id: bigint
  role: keyof typeof ROLES
  kind: TransferKind
  /** The counter at the other end, without its name if that is the source; `null` for deletions. */
  other: CounterAddress | null
  keyed: boolean
  /** In the database's notation, UTC. */
  startedAt: string
  /** The days from this one on have left the source: `2026-11-20`. */
  before: string
  /** The number of the part that left the source last, or arrived at the target last. */
  step: number
  stage: keyof typeof STAGES
  /** The part that left the source last; `null` if it has nothing that must arrive anywhere. */
  parcel: Parcel | null
}

/** Reads the transfers in which a counter takes part: those that are not finished, and that with the given id. */
export async function readTransfers(
  db: Executor,
  { recordType, recordId }: Place,
  id: bigint,
): Promise<TransferRecord[]> {
  const { rows } = await db.execute(
    `SELECT transfer_id, role, kind, other_id, other_name, keyed, CAST(started_at AS CHAR) AS started_at,
       CAST(before_day AS CHAR) AS before_day, step, stage, parcel
     FROM counter_transfers WHERE record_type = ${recordType} AND record_id = ${recordId}
       AND (stage <> ${STAGES.finished} OR transfer_id = ${id}) ORDER BY transfer_id, role`,
  )
  return rows.map((row) => ({
    id: toBigInt(row.transfer_id),
    role: Number(row.role) === ROLES.source ? 'source' : 'target',
    kind: KINDS.find((kind) => TRANSFERS[kind] === Number(row.kind))!,
    other:
      row.other_id === null
        ? null
        : {
            recordType,
            recordId: toBigInt(row.other_id),
            name: row.other_name === null ? '' : toText(row.other_name),
          },
    keyed: Number(row.keyed) === 1,
    startedAt: String(row.started_at),
    before: String(row.before_day),
    step: Number(row.step),
    stage: (Object.keys(STAGES) as (keyof typeof STAGES)[]).find((stage) => STAGES[stage] === Number(row.stage))!,
    parcel: row.parcel === null ? null : unpackParcel(toText(row.parcel)),
  }))
}

/**
 * Writes the row of a counter at the beginning of a transfer, or the step of a target.
 *
 * @throws {Overtaken} if the source has its row already
 */
export async function insertTransfer(
  transaction: Executor,
  { recordType, recordId }: Place,
  record: Omit<TransferRecord, 'startedAt'> & { startedAt: Date },
): Promise<void> {
  const { id, role, kind, other, keyed, startedAt, before, step, stage, parcel } = record
  // An upsert counts 2 for a row that it changed.
  const { rowsAffected } = await transaction.execute(
    `INSERT INTO counter_transfers (record_type, record_id, transfer_id, role, kind, other_id, other_name, keyed, started_at,
       before_day, step, stage, parcel) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON DUPLICATE KEY UPDATE step = ${role === 'source' ? 'step + 1' : 'VALUES(step)'}`,
    [
      recordType,
      recordId,
      id,
      ROLES[role],
      TRANSFERS[kind],
      other?.recordId ?? null,
      other?.name || null,
      keyed ? 1 : 0,
      startedAt,
      before,
      step,
      STAGES[stage],
      parcel && packParcel(parcel),
    ],
  )
  if (role === 'source' && rowsAffected !== 1) throw new Overtaken()
}

/**
 * Writes what has left the source since.
 *
 * @param step the step that was read
 * @throws {Overtaken} if another request took the next step first
 */
export async function updateTransfer(
  transaction: Executor,
  { recordType, recordId }: Place,
  { id, step }: Pick<TransferRecord, 'id' | 'step'>,
  next: Pick<TransferRecord, 'before' | 'stage' | 'parcel'>,
): Promise<void> {
  const { rowsAffected } = await transaction.execute(
    `UPDATE counter_transfers SET step = step + 1, before_day = ?, stage = ?, parcel = ?
     WHERE record_type = ? AND record_id = ? AND transfer_id = ? AND role = ${ROLES.source} AND step = ?
       AND stage <> ${STAGES.finished}`,
    [next.before, STAGES[next.stage], next.parcel && packParcel(next.parcel), recordType, recordId, id, step],
  )
  if (rowsAffected !== 1) throw new Overtaken()
}

/** Deletes the row of a counter. */
export async function deleteTransfer(
  db: Executor,
  { recordType, recordId }: Place,
  { id, role }: Pick<TransferRecord, 'id' | 'role'>,
): Promise<void> {
  await db.execute(
    `DELETE FROM counter_transfers
     WHERE record_type = ? AND record_id = ? AND transfer_id = ? AND role = ${ROLES[role]}`,
    [recordType, recordId, id],
  )
}
