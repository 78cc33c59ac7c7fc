import { classify, type DatabaseFailure } from '../../database/errors.ts'
import { type CountedDatabase, countStatements } from '../../database/statement-budget.ts'
import { beforeTransaction } from '../adjust/attempts.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { hash64 } from '../keys/key-hash.ts'
import { changingTotals, type Ledger, Overtaken } from '../ledger/totals.ts'
import { beginToLeave, END_STATEMENTS, endLeaving, LEAVE_STATEMENTS, leaveOn } from './leave-source.ts'
import { FORGET_STATEMENTS, forgetArrivals, REACH_STATEMENTS, reachTarget, readTarget } from './reach-target.ts'
import { readTransfers, type TransferRecord } from './transfer-records.ts'
import { TransferRefused } from './transfer-refused.ts'
import type { TransferRequest } from './transfer-request.ts'

/** Statements that one request may send. The free plan allows 50 subrequests; 5 are left for names and repeated ROLLBACKs. */
const MAX_STATEMENTS = 45
/** Failures in a row after which a request gives up. */
const MAX_FAILURES = 7
/** The longest pause after the first failure, in milliseconds. It doubles with each further one. */
const BACKOFF_MS = 30
/** Milliseconds after which no further step begins. */
const GIVE_UP_AFTER_MS = 8_000

/**
 * `done` by this request, or `repeated`: an earlier one with the same key had done it. `unfinished`: the limits of a request
 * were reached, and sending it again goes on.
 */
export type TransferOutcome = 'done' | 'repeated' | 'unfinished'

/**
 * Deletes a counter, or moves everything that it has to another one.
 *
 * Its count leaves at one instant, by one transaction in its range, and arrives at another one, by one transaction in the
 * target's range. In between, the amount is in the source's row of `counter_transfers`, and in no count. The history follows in
 * steps of the same kind. In every transaction, what the history lacks or has too much is recorded as an adjustment, so totals
 * are the sums of days and adjustments at any time.
 *
 * What is counted after that instant is the beginning of a new counter under the old key. Any request for a counter first
 * finishes the transfers in which it takes part.
 *
 * @throws {TransferRefused} nothing was changed
 * @throws {Overtaken} if other changes came first every time; nothing was changed
 * @throws {DatabaseFailure} possibly with an unknown outcome; the same request again goes on
 */
export async function transfer(
  ledger: Ledger,
  source: CounterAddress,
  request: TransferRequest,
): Promise<TransferOutcome> {
  const id = request.keyed ? await keyOfCounter(request.id, source) : request.id
  return changingTotals(ledger, (database) => new Transfer(countStatements(database), source, { ...request, id }).run())
}

/** The same key may be used for several sources, also with the same target: each has its own. */
function keyOfCounter(id: bigint, { recordType, recordId }: CounterAddress): Promise<bigint> {
  return hash64(`transfer ${recordType} ${recordId} ${id}`)
}

/** One request, which goes on until the transfer is finished or a limit is reached. */
class Transfer {
  readonly #db: CountedDatabase
  readonly #source: CounterAddress
  readonly #request: TransferRequest
  readonly #began = Date.now()
  /** The transfer that this request began or joined. */
  #mine: bigint | null = null
  /** A failure that leaves open whether something was done. */
  #unknown: DatabaseFailure | null = null
  /** A failure that leaves open whether the transfer began. */
  #mayHaveBegun: DatabaseFailure | null = null
  /** The part that certainly arrived: its transfer and step. */
  #arrived = ''

  constructor(db: CountedDatabase, source: CounterAddress, request: TransferRequest) {
    this.#db = db
    this.#source = source
    this.#request = request
  }

  async run(): Promise<TransferOutcome> {
    for (let failures = 0; ; ) {
      try {
        const outcome = await this.#step()
        if (outcome !== 'more') return outcome
        failures = 0
      } catch (error) {
        if (error instanceof TransferRefused) throw error
        const failure = error instanceof Overtaken ? null : classify(error)
        if (failure?.applied === 'unknown') this.#unknown = failure
        failures++
        const pause = Math.random() * BACKOFF_MS * 2 ** (failures - 1)
        if (failures === MAX_FAILURES || failure?.retry === false || this.#isLate(pause)) {
          if (failure === null && this.#mine !== null) return 'unfinished'
          // That a sum does not fit must be said as such: somebody has to set the target lower.
          const began = this.#mine !== null && failure?.kind !== 'range'
          const open = began || this.#unknown !== null ? (failure ?? this.#unknown) : null
          throw open?.withApplied('unknown') ?? error
        }
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      if (this.#isLate(0)) return 'unfinished'
    }
  }

  #isLate(pause: number): boolean {
    return Date.now() + pause - this.#began > GIVE_UP_AFTER_MS
  }

  #maySend(statements: number): boolean {
    return this.#db.sent + statements <= MAX_STATEMENTS
  }

  /** Does what comes next, by what the tables say. */
  async #step(): Promise<TransferOutcome | 'more'> {
    const { kind, target, id } = this.#request
    if (!this.#maySend(1)) return 'unfinished'
    const records = await beforeTransaction(readTransfers(this.#db, this.#source, id))
    const ofSource = records.filter(({ role }) => role === 'source')
    const own = ofSource.find((record) => record.id === id)
    const isSame = (record: TransferRecord) =>
      record.kind === kind && (record.other?.recordId ?? null) === (target?.recordId ?? null)
    if (own !== undefined && !isSame(own)) throw new TransferRefused('idempotency_key_reused')
    if (own?.stage === 'finished') {
      // The request that ended it may have died before the target's row was deleted.
      if (target !== null && (this.#mine === null || this.#unknown !== null)) {
        if (!this.#maySend(FORGET_STATEMENTS)) return 'unfinished'
        await beforeTransaction(forgetArrivals(this.#db, target, own))
      }
      return this.#mine === null && this.#mayHaveBegun === null ? 'repeated' : 'done'
    }
    if (this.#mine !== null && !ofSource.some((record) => record.id === this.#mine)) {
      // The answer to the end may have been lost before the target's row was deleted.
      if (this.#unknown !== null && target !== null) await forgetArrivals(this.#db, target, { id: this.#mine })
      return 'done'
    }
    const active = ofSource.find(({ stage }) => stage !== 'finished')
    if (active !== undefined) {
      // Also under another key: whoever runs a command again sends a new one.
      if (isSame(active)) this.#mine = active.id
      return this.#resume(this.#source, active)
    }
    const arriving = records.find(({ role }) => role === 'target')
    return arriving === undefined ? this.#begin() : this.#resumeArriving(arriving)
  }

  async #begin(): Promise<TransferOutcome | 'more'> {
    const { kind, target, id } = this.#request
    if (!this.#maySend(2 + LEAVE_STATEMENTS)) return 'unfinished'
    const there = target === null ? null : await beforeTransaction(readTarget(this.#db, target))
    if (target !== null && there?.isLeaving) {
      const records = await beforeTransaction(readTransfers(this.#db, target, id))
      const active = records.find(({ role, stage }) => role === 'source' && stage !== 'finished')
      return active === undefined ? 'more' : this.#resume(target, active)
    }
    try {
      if (kind === 'rename' && there?.exists) throw await this.#refusal('counter_exists')
      if (kind === 'merge' && !there?.exists) throw await this.#refusal('no_such_target')
      const outcome = await beginToLeave(this.#db, this.#source, this.#request, there?.total ?? 0n)
      if (outcome === 'missing') throw new TransferRefused('no_such_counter')
      if (outcome === 'begun') this.#mine = id
      return outcome === 'finished' ? 'done' : 'more'
    } catch (error) {
      if (error instanceof Overtaken) throw error
      if (error instanceof TransferRefused) return this.#orRefuse(error)
      const failure = classify(error)
      if (failure.applied === 'unknown') this.#mayHaveBegun = failure
      throw failure
    }
  }

  /** Refuses to begin, unless the transfer may have been done by an earlier attempt. */
  #orRefuse(refusal: TransferRefused): 'done' {
    // With a key, the row would be there.
    if (this.#mayHaveBegun === null || this.#request.keyed) throw refusal
    if (refusal.reason === 'no_such_counter') return 'done'
    throw this.#mayHaveBegun
  }

  /** The reason that the client is told: that the source is missing comes first. */
  async #refusal(reason: 'counter_exists' | 'no_such_target'): Promise<TransferRefused> {
    const { exists } = await beforeTransaction(readTarget(this.#db, this.#source))
    return new TransferRefused(exists ? reason : 'no_such_counter')
  }

  /** Goes on with a transfer whose target is the source of this one. */
  async #resumeArriving(arriving: TransferRecord): Promise<TransferOutcome | 'more'> {
    if (!this.#maySend(1 + FORGET_STATEMENTS)) return 'unfinished'
    const from = arriving.other!
    const record = (await readTransfers(this.#db, from, arriving.id)).find(
      ({ id, role }) => id === arriving.id && role === 'source',
    )
    if (record !== undefined && record.stage !== 'finished') return this.#resume(from, record)
    await forgetArrivals(this.#db, this.#source, arriving)
    return 'more'
  }

  async #resume(source: CounterAddress, record: TransferRecord): Promise<TransferOutcome | 'more'> {
    const { other: target, stage, id, step } = record
    const { at } = this.#request
    const part = `${id}/${step}`
    if (target !== null && record.parcel !== null && this.#arrived !== part) {
      if (!this.#maySend(REACH_STATEMENTS)) return 'unfinished'
      await reachTarget(this.#db, source, target, record, at)
      this.#arrived = part
    }
    if (stage === 'taking') {
      if (!this.#maySend(LEAVE_STATEMENTS)) return 'unfinished'
      await leaveOn(this.#db, source, record, at)
    } else {
      // First in the source's range: by its row the transfer is known.
      if (!this.#maySend(END_STATEMENTS + FORGET_STATEMENTS)) return 'unfinished'
      await endLeaving(this.#db, source, record)
      await forgetArrivals(this.#db, target!, record)
      if (id === this.#mine) return 'done'
    }
    return 'more'
  }
}
