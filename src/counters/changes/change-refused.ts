/** Why a counter is not deleted, renamed or merged. */
export type ChangeRefusal =
  | 'no_such_counter'
  | 'no_such_target'
  | 'counter_exists'
  | 'count_not_below'
  | 'different_ranges'
  | 'history_too_large'

/** Thrown if a counter is not deleted, renamed or merged. Nothing was changed. */
export class ChangeRefused extends Error {
  readonly reason: ChangeRefusal

  constructor(reason: ChangeRefusal) {
    super(reason)
    this.name = 'ChangeRefused'
    this.reason = reason
  }
}
