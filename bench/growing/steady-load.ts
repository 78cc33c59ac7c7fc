import { setTimeout as pause } from 'node:timers/promises'
import { hash64 } from '../../src/counters/ids.ts'
import { TOKEN } from '../harness/deployment.ts'
import { Ledger, type Mismatch } from './ledger.ts'

const TYPE = 'page_view'
const KEYS = 200
/** Of the clients, one in five sends batches. */
const CLIENTS = 50
const BATCH_CLIENTS = CLIENTS / 5
/** Milliseconds between the beginnings of two requests of a client, as long as the first is answered by then. */
const EVERY_MS = 500
const BATCH = 5
const RETRY_MS = 200
/** Milliseconds within which a batch must be acknowledged. */
const GIVE_UP_MS = 120_000
const READ_KEYS = 10
const READ_EVERY_MS = 100
/** Milliseconds within which every request must be answered. */
const ANSWER_MS = 40_000
const ROLL_UP_EVERY_MS = 5_000
/** Counters that exist beforehand, so that there is something to copy. */
const OLD = 20_000
const PER_REQUEST = 1_000
/** The counters of a quarter of the record ids are always on the same shard, as there are at most four. */
const QUARTERS = 4

/** What the Worker said of increments: they were counted, were not counted, or it is unknown. */
type Fate = 'counted' | 'refused' | 'unknown'

/** A hit that was answered. Times are those of `performance.now()`. */
interface Hit {
  quarter: number
  began: number
  ended: number
  fate: Fate
}

/** What happened in a part of the run. */
export interface Part {
  acknowledged: number
  refused: number
  unknown: number
  /** Repetitions of batches, with the same idempotency key. */
  repeated: number
  /** The longest time in which no hit was acknowledged, in milliseconds, for the worst quarter of the record ids. */
  longestGapMs: number
  /** The slowest acknowledged hit, in milliseconds. */
  slowestMs: number
}

/** Counts steadily through a Worker while other things happen, and checks what it reads against a ledger. */
export class SteadyLoad {
  readonly #url: string
  readonly #signal: AbortSignal
  readonly #stop = new AbortController()
  readonly #keys = Array.from({ length: KEYS }, (_, i) => `/page/${i}`)
  readonly #ledger = new Ledger()
  readonly #hits: Hit[] = []
  readonly #repetitions: number[] = []
  readonly #wrong: Mismatch[] = []
  #running: Promise<unknown> | null = null
  readings = 0
  failedReadings = 0
  rollUps = 0
  failedRollUps = 0

  /** @param signal ends repetitions, and with them the clients, if the run fails */
  constructor(url: string, signal: AbortSignal) {
    this.#url = url
    this.#signal = signal
  }

  /** Counts the old counters once. */
  async fill(): Promise<void> {
    for (let first = 0; first < OLD; first += PER_REQUEST) {
      const keys = Array.from({ length: PER_REQUEST }, (_, i) => `/old/${first + i}`)
      await this.#count(keys, 2, `old-${first}`)
    }
  }

  /**
   * Starts to count, to read and to roll up.
   *
   * @param onFailure called if a client gets an answer that it must not get; the load then goes on without that client
   */
  async start(onFailure: (error: unknown) => void): Promise<void> {
    const quarters = await Promise.all(this.#keys.map(async (key) => Number((await hash64(key)) >> 62n)))
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      await this.#pause((client * EVERY_MS) / CLIENTS)
      for (let request = 0; !this.#stop.signal.aborted; request++) {
        const next = this.#pause(EVERY_MS)
        if (client < BATCH_CLIENTS) await this.#count(this.#pick(BATCH), 1 + (request % 9), `${client}-${request}`)
        else await this.#hit(quarters)
        await next
      }
    })
    const background = [this.#read(), this.#rollUp()]
    this.#running = Promise.all([...clients, ...background].map((work) => work.catch(onFailure)))
  }

  /** Stops, and waits until every request has been answered. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  /** Reads every counter and compares it with the ledger. Call it after `stop`. */
  async check(): Promise<{ counters: number; acknowledged: number; unknown: number; wrong: Mismatch[] }> {
    const { keys } = this.#ledger
    for (let first = 0; first < keys.length; first += PER_REQUEST) {
      if (!(await this.#checkReading(keys.slice(first, first + PER_REQUEST)))) throw new Error('A reading failed.')
    }
    return { counters: keys.length, ...this.#ledger.sums(), wrong: this.#wrong }
  }

  /** What happened between two times of `performance.now()`. A gap belongs to the part in which it ended. */
  part(from: number, to: number): Part {
    const within = (time: number) => time >= from && time < to
    const ended = this.#hits.filter(({ ended }) => within(ended))
    const number = (fate: Fate) => ended.filter((hit) => hit.fate === fate).length
    const acknowledged = this.#hits.filter(({ fate }) => fate === 'counted')
    const gaps = Array.from({ length: QUARTERS }, (_, quarter) => {
      const times = acknowledged.filter((hit) => hit.quarter === quarter).map((hit) => hit.ended)
      return times.flatMap((time, i) => (i > 0 && within(time) ? [time - times[i - 1]!] : []))
    })
    return {
      acknowledged: number('counted'),
      refused: number('refused'),
      unknown: number('unknown'),
      repeated: this.#repetitions.filter(within).length,
      longestGapMs: Math.max(0, ...gaps.flat()),
      slowestMs: Math.max(
        0,
        ...acknowledged.filter(({ ended }) => within(ended)).map(({ began, ended }) => ended - began),
      ),
    }
  }

  async #hit(quarters: readonly number[]): Promise<void> {
    const index = Math.floor(Math.random() * KEYS)
    const key = this.#keys[index]!
    this.#ledger.begin(key, 1)
    const began = performance.now()
    const fate = await this.#send('/hit', { type: TYPE, key })
    if (fate === 'counted') this.#ledger.acknowledge(key, 1)
    if (fate === 'refused') this.#ledger.refuse(key, 1)
    this.#hits.push({ quarter: quarters[index]!, began, ended: performance.now(), fate })
  }

  /** Sends a batch with an idempotency key until it is acknowledged. */
  async #count(keys: readonly string[], by: number, idempotencyKey: string): Promise<void> {
    for (const key of keys) this.#ledger.begin(key, by)
    const increments = keys.map((key) => ({ type: TYPE, key, by }))
    const giveUpAt = Date.now() + GIVE_UP_MS
    while ((await this.#send('/v1/increments', { increments }, idempotencyKey)) !== 'counted') {
      if (Date.now() > giveUpAt) throw new Error(`The batch ${idempotencyKey} was not acknowledged.`)
      this.#repetitions.push(performance.now())
      await pause(RETRY_MS, undefined, { signal: this.#signal })
    }
    for (const key of keys) this.#ledger.acknowledge(key, by)
  }

  /** @throws {Error} if there is no answer, or one that says neither */
  async #send(path: string, body: object, idempotencyKey?: string): Promise<Fate> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${TOKEN}`,
        // Node's own counts as a bot.
        'User-Agent': 'Mozilla/5.0 (X11) Firefox/145',
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    await response.arrayBuffer()
    const said = response.headers.get('X-Hit')
    if (response.ok && said === 'counted') return 'counted'
    if (response.status === 503 && said === 'unknown') return 'unknown'
    if (response.status === 503 && said?.startsWith('ignored')) return 'refused'
    throw new Error(`${path}: ${response.status}, X-Hit: ${said}`)
  }

  async #read(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const next = this.#pause(READ_EVERY_MS)
      if (await this.#checkReading(this.#pick(READ_KEYS))) this.readings++
      else this.failedReadings++
      await next
    }
  }

  /** Reads some counters exactly. Returns whether there was an answer. */
  async #checkReading(keys: readonly string[]): Promise<boolean> {
    const check = this.#ledger.reading(keys)
    const query = keys.map((key) => `key=${encodeURIComponent(key)}`).join('&')
    const response = await fetch(`${this.#url}/v1/counters/${TYPE}?${query}`)
    if (!response.ok) {
      await response.arrayBuffer()
      return false
    }
    const { counters } = (await response.json()) as { counters: { key: string; count: number }[] }
    this.#wrong.push(...check(new Map(counters.map(({ key, count }) => [key, count]))))
    return true
  }

  async #rollUp(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const next = this.#pause(ROLL_UP_EVERY_MS)
      const headers = { Authorization: `Bearer ${TOKEN}` }
      const response = await fetch(`${this.#url}/v1/rollup`, { method: 'POST', headers })
      await response.arrayBuffer()
      if (response.ok) this.rollUps++
      else this.failedRollUps++
      await next
    }
  }

  /** Different keys, at random. */
  #pick(number: number): string[] {
    const picked = new Set<string>()
    while (picked.size < number) picked.add(this.#keys[Math.floor(Math.random() * KEYS)]!)
    return [...picked]
  }

  /** Waits, or until the load stops. */
  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}
