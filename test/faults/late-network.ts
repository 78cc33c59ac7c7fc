import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Random } from '../harness/random.ts'

/** Matches the statement that counts. */
export const BATCH = /IF\(batch/
/** Most milliseconds that a statement is late. Later statements are sent and answered in this time. */
const MOST_LATE_MS = 800
/** Milliseconds after which no Worker waits for an answer. */
const FORGOTTEN_MS = 5_000

/** Which statements a gate holds back. */
export interface GateOptions {
  /** What the text of the request must match. Default: everything. */
  match?: RegExp
  /** Matching statements to let through first. Default: 0. */
  skip?: number
  /** Matching statements to hold back after that. Default: all. */
  most?: number
}

/**
 * Holds statements back until it is opened. A Worker gives a statement up after 3 s, so that is how long a test has to bring about
 * what it needs.
 */
export class Gate {
  readonly #match: RegExp
  #skip: number
  #most: number
  readonly #held: PromiseWithResolvers<void>[] = []
  /** Called when the next statement is held back. */
  readonly #arrived: (() => void)[] = []

  constructor({ match = /^/, skip = 0, most = Number.POSITIVE_INFINITY }: GateOptions) {
    this.#match = match
    this.#skip = skip
    this.#most = most
  }

  /** The number of statements that were held back so far. */
  get held(): number {
    return this.#held.length
  }

  /** Waits until it has held back this many statements. */
  async reached(statements: number): Promise<void> {
    while (this.held < statements) await new Promise<void>((resolve) => this.#arrived.push(resolve))
  }

  /** Lets go the statement that came at this place, the first one at 0. */
  letGo(place: number): void {
    this.#held[place]!.resolve()
  }

  /** Lets all go, and holds back no more. */
  open(): void {
    this.#most = 0
    for (const { resolve } of this.#held) resolve()
  }

  /** Settles when the statement may go on, or is null if it may at once. */
  pass(body: string): Promise<void> | null {
    if (!this.#match.test(body)) return null
    if (this.#skip > 0) {
      this.#skip--
      return null
    }
    if (this.held >= this.#most) return null
    const departure = Promise.withResolvers<void>()
    this.#held.push(departure)
    for (const arrived of this.#arrived.splice(0)) arrived()
    return departure.promise
  }
}

/**
 * A network between Workers and an endpoint in which some statements arrive late. It cuts the Worker's connection at once, so
 * that the Worker retries and goes on. The first attempt reaches the database after that.
 */
export class LateNetwork {
  /** Probability that a batch is late. */
  late = 0
  /** Number of statements that have arrived late. */
  arrived = 0
  #gate: Gate | null = null
  readonly #to: URL
  readonly #random: Random
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #server = createServer((request, response) => {
    this.#carry(request, response).catch(() => response.destroy())
  })

  private constructor(databaseUrl: string, random: Random) {
    this.#to = new URL(databaseUrl)
    this.#random = random
  }

  /** Starts a network in front of an endpoint. It stops when the test ends. */
  static async start(databaseUrl: string, random: Random): Promise<LateNetwork> {
    const network = new LateNetwork(databaseUrl, random)
    network.#server.keepAliveTimeout = 120_000
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      network.#server.closeAllConnections()
      await new Promise((resolve) => network.#server.close(resolve))
    })
    return network
  }

  /** The endpoint's URL by way of this network. */
  get url(): string {
    const url = new URL(this.#to)
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  /** Puts up a gate, in place of the one before. It cuts no connection. */
  close(options: GateOptions = {}): Gate {
    this.#gate = new Gate(options)
    return this.#gate
  }

  /** Waits until no statement is in flight. */
  async settle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  async #carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const text = body.toString()
    const held = this.#gate?.pass(text) ?? null
    const late = held === null && BATCH.test(text) && this.#random.chance(this.late)
    if (late) request.socket.resetAndDestroy()
    const delay = late ? pause(this.#random.between(0, MOST_LATE_MS)) : held
    const { status, type, text: answer } = await this.#watched(this.#pass(request, body, delay))
    if (late) this.arrived++
    else response.writeHead(status, { 'Content-Type': type }).end(answer)
  }

  async #pass(request: IncomingMessage, body: Buffer, delay: Promise<void> | null) {
    await delay
    const answer = await fetch(`${this.#to.origin}${request.url}`, {
      method: request.method!,
      headers: { Authorization: request.headers.authorization!, 'Content-Type': 'application/json' },
      body,
      signal: AbortSignal.timeout(FORGOTTEN_MS),
    })
    const type = answer.headers.get('Content-Type') ?? 'text/plain'
    return { status: answer.status, type, text: await answer.text() }
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#inFlight.delete(watched))
    this.#inFlight.add(watched)
    return watched
  }
}
