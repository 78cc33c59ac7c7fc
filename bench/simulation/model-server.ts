import type { VirtualClock } from './virtual-clock.ts'

/** Milliseconds over which the load of a server is averaged. */
const AVERAGED_MS = 500
/** Load from which on the waiting time is that of an overloaded server. */
const FULL = 0.97

/** A database server: one shard. */
interface Shard {
  /** Processor time that is asked for, as a share of what there is. */
  load: number
  /** Milliseconds of work that an overloaded server has put off. */
  backlogMs: number
  at: number
  /** Microseconds of processor time used. */
  usedMicros: number
}

/** What the servers are. */
export interface ServerOptions {
  shards: number
  /** Processors of each shard; less than 1 for a share of one. */
  processors: number
  /** Milliseconds that a commit takes beyond its processor time, because it is replicated. */
  commitMs: number
}

/**
 * The servers of a database: processors with a queue. A statement waits as long as it would on average in a queue for that many
 * processors at the present load (M/M/c, by Sakasegawa's formula). Beyond full load, work is put off, and everything waits for it.
 *
 * Writers of the product never wait for a row of another writer, so there are no locks here: in the benchmarks, group commit has
 * no lock waits.
 */
export class ModelServer {
  readonly options: ServerOptions
  readonly #clock: VirtualClock
  readonly #shards: Shard[]

  constructor(clock: VirtualClock, options: ServerOptions) {
    this.#clock = clock
    this.options = options
    this.#shards = Array.from({ length: options.shards }, () => ({
      load: 0,
      backlogMs: 0,
      at: clock.now,
      usedMicros: 0,
    }))
  }

  /** Microseconds of processor time used so far, of each shard. */
  get usedMicros(): number[] {
    return this.#shards.map(({ usedMicros }) => usedMicros)
  }

  /**
   * Milliseconds from the arrival of a statement until its answer leaves.
   *
   * @param micros processor time of the statement
   * @param weight how many statements like this one arrive for each that is simulated
   */
  take(shard: number, micros: number, weight: number): number {
    const state = this.#shards[shard]!
    const { processors } = this.options
    const passed = this.#clock.now - state.at
    state.at = this.#clock.now
    state.backlogMs = Math.max(0, state.backlogMs + (state.load - 1) * passed)
    state.load = state.load * Math.exp(-passed / AVERAGED_MS) + (weight * micros) / 1_000 / processors / AVERAGED_MS
    state.usedMicros += weight * micros
    const serviceMs = micros / 1_000 / Math.min(1, processors)
    const parallel = Math.max(1, processors)
    const load = Math.min(state.load, FULL)
    const waitMs = (serviceMs * load ** (Math.sqrt(2 * (parallel + 1)) - 1)) / (parallel * (1 - load))
    return state.backlogMs + waitMs + serviceMs
  }
}
