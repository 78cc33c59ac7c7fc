/** Why a transfer does not begin. */
export type TransferRefusal =
  | 'no_such_counter'
  | 'no_such_target'
  | 'counter_exists'
  | 'count_not_below'
  | 'idempotency_key_reused'

/** Thrown if a transfer does not begin. Nothing was changed. */
export class TransferRefused extends Error {
  readonly reason: TransferRefusal

  constructor(reason: TransferRefusal) {
    super(reason)
    this.name = 'TransferRefused'
    this.reason = reason
  }
}
