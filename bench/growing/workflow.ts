import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster, Tablet } from './cluster.ts'

/** Milliseconds that copying the tables may take. */
const COPY_MS = 300_000
const POLL_MS = 1_000

/** Shards that together hold the tables. */
export interface Shards {
  keyspace: string
  /** By name of the shard. The first tablet is its first primary. */
  tablets: ReadonlyMap<string, readonly Tablet[]>
}

/** The part of the answer of `status` that is used here. */
interface CopyStatus {
  shard_streams: Record<string, { streams: { status: string; position: string }[] }>
}

/** Copies the tables from some shards to others: `Reshard` within a keyspace, `MoveTables` between two. */
export class Workflow {
  readonly command: 'Reshard' | 'MoveTables'
  readonly #cluster: Cluster
  readonly #signal: AbortSignal
  readonly #create: string[]
  readonly #target: string[]

  constructor(cluster: Cluster, from: Shards, to: Shards, signal: AbortSignal) {
    const inPlace = from.keyspace === to.keyspace
    this.command = inPlace ? 'Reshard' : 'MoveTables'
    this.#cluster = cluster
    this.#signal = signal
    const names = ({ tablets }: Shards) => [...tablets.keys()].join(',')
    this.#create = inPlace
      ? [`--source-shards=${names(from)}`, `--target-shards=${names(to)}`]
      : [`--source-keyspace=${from.keyspace}`, '--all-tables']
    this.#target = [`--workflow=to${to.tablets.size}`, `--target-keyspace=${to.keyspace}`]
  }

  /** Starts it, and waits until all tables are copied and follow the changes. */
  async copy(): Promise<void> {
    await this.#run('create', ...this.#create)
    const giveUpAt = Date.now() + COPY_MS
    for (;;) {
      const status = await this.#run('status', '--format=json')
      const { shard_streams: shards } = JSON.parse(status) as CopyStatus
      const streams = Object.values(shards).flatMap((shard) => shard.streams)
      // A stream is also `Running` before it begins to copy, but then it has no position.
      if (streams.every(({ status, position }) => status === 'Running' && position !== '')) return
      if (Date.now() > giveUpAt) throw new Error(`The tables were not copied in time:\n${status}`)
      await pause(POLL_MS, undefined, { signal: this.#signal })
    }
  }

  /**
   * Compares the rows of both sides.
   *
   * @returns their number
   * @throws {Error} if they differ
   */
  async compare(): Promise<number> {
    await this.#cluster.vtctl('VDiff', ...this.#target, 'create', '--wait', '--wait-update-interval=1s')
    const report = await this.#cluster.vtctl('VDiff', ...this.#target, 'show', 'last', '--format=json')
    const { State, HasMismatch, RowsCompared } = JSON.parse(report) as Record<string, unknown>
    if (State !== 'completed' || HasMismatch !== false) throw new Error(`VDiff found differences:\n${report}`)
    return Number(RowsCompared)
  }

  /** Switches reads and writes over. */
  async switchTraffic(): Promise<void> {
    await this.#run('switchtraffic')
  }

  /** Ends it, so that nothing refers to the old shards any more. */
  async complete(): Promise<void> {
    await this.#run('complete')
  }

  #run(action: string, ...options: string[]): Promise<string> {
    return this.#cluster.vtctl(this.command, ...this.#target, action, ...options)
  }
}
