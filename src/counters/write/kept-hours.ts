/**
 * Hours for which a slot is kept after its last batch, so that it recognizes that batch. A writer's slot must outlive the
 * resends of its batch (`MAX_RESEND_MS`); a keyed one the repeats of clients, and the queue.
 */
export interface KeptHours {
  writer: number
  keyed: number
}

/** @param idempotencyHours `PRUNING.idempotency_hours` */
export function keptHours(idempotencyHours: number): KeptHours {
  return { writer: 1, keyed: idempotencyHours }
}

/** Whether only one batch is ever written to the slot, which therefore always recognizes it. */
export function isKeyed({ slot, batch }: { slot: bigint; batch: bigint }): boolean {
  return slot === batch
}
