import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Random } from '../harness/random.ts'

/** Matches the statement that counts. */
const BATCH = /IF\(batch/
/** Most milliseconds that a statement is late. Later statements are sent and answered in this time. */
const MOST_LATE_MS = 800
/** Milliseconds after which no Worker waits for an answer. */
const FORGOTTEN_MS = 5_000

/**
 * A network between Workers and an endpoint in which some statements arrive late. It cuts the Worker's connection at once, so
 * that the Worker retries and goes on. The first attempt reaches the database after that.
 */
export class LateNetwork {
  /** Probability that a batch is late. */
  late = 0
  /** Number of statements that have arrived late. */
  arrived = 0
  #hold: (() => Promise<void>) | null = null
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

  /**
   * Holds back the next batch without cutting its connection.
   *
   * @returns `held` settles when it is there; `letGo` lets it go on
   */
  holdNext(): { held: Promise<void>; letGo: () => void } {
    const arrival = Promise.withResolvers<void>()
    const departure = Promise.withResolvers<void>()
    this.#hold = () => {
      this.#hold = null
      arrival.resolve()
      return departure.promise
    }
    return { held: arrival.promise, letGo: departure.resolve }
  }

  /** Waits until no statement is in flight. */
  async settle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight)
  }

  async #carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const isBatch = BATCH.test(body.toString())
    const held = isBatch ? (this.#hold?.() ?? null) : null
    const late = isBatch && held === null && this.#random.chance(this.late)
    if (late) request.socket.resetAndDestroy()
    const delay = late ? pause(this.#random.between(0, MOST_LATE_MS)) : held
    const { status, type, text } = await this.#watched(this.#pass(request, body, delay))
    if (late) this.arrived++
    else response.writeHead(status, { 'Content-Type': type }).end(text)
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

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
