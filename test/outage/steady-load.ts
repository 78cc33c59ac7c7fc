import { setTimeout as pause } from 'node:timers/promises'

/** How long anybody waits for an answer before it counts as none, in milliseconds. */
const ANSWER_MS = 15_000
/** Milliseconds between two tries of a request that carries an idempotency key. */
const AGAIN_MS = 1_000

const KEYS = 300
const VISITED = 20
const VISITORS = 97

/** How often something was counted, as far as its senders know. */
export interface Receipt {
  /** Times that it certainly was, or is going to be. */
  sure: number
  /** Times that nobody knows about. */
  unsure: number
}

/** What Node calls itself is a bot's name. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

/** Sends hits, images, visits and keyed increments at a steady rate, and keeps book of what it is told. */
export class SteadyLoad {
  readonly receipts = new Map<string, Receipt>()
  /** How often each answer came: status and `X-Hit`. */
  readonly answers = new Map<string, number>()
  /** Requests that got no answer, and why. */
  readonly unanswered: string[] = []
  sent = 0
  slowestMs = 0
  readonly #url: string
  readonly #token: string
  readonly #visits = new Map<string, 'sure' | 'unsure'>()
  readonly #open = new Set<Promise<void>>()
  #stopped = false
  readonly #pacing: Promise<void>

  /** @param perSecond requests */
  constructor({ url, token, perSecond }: { url: string; token: string; perSecond: number }) {
    this.#url = url
    this.#token = token
    const began = Date.now()
    this.#pacing = (async () => {
      while (!this.#stopped) {
        for (const due = ((Date.now() - began) / 1_000) * perSecond; this.sent < due; ) this.#begin(this.sent++)
        await pause(5)
      }
    })()
  }

  /** Sends nothing new, and waits for what is open; requests with a key go on until they have been taken. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#pacing
    await Promise.all(this.#open)
    for (const [visit, fate] of this.#visits) {
      const receipt = this.#receipt(visit.slice(0, visit.indexOf(' ')))
      receipt[fate]++
    }
    this.#visits.clear()
  }

  #begin(index: number): void {
    const work = this.#send(index).catch((error: unknown) => {
      this.unanswered.push(String(error))
    })
    this.#open.add(work)
    void work.then(() => this.#open.delete(work))
  }

  async #send(index: number): Promise<void> {
    const key = `/page/${(index * 7_919) % KEYS}`
    switch (index % 10) {
      case 0:
        return this.#increment([key, `/keyed/${index % 50}`], `request-${index}`)
      case 1:
        return this.#book(key, await this.#fetch(`/hit.gif?type=page_view&key=${encodeURIComponent(key)}`))
      case 2: {
        const visited = `/visited/${index % VISITED}`
        const address = `198.51.100.${index % VISITORS}`
        return this.#bookVisit(visited, address, await this.#hit('visit', visited, { 'CF-Connecting-IP': address }))
      }
      default:
        return this.#book(key, await this.#hit('page_view', key))
    }
  }

  async #hit(type: string, key: string, headers = {}): Promise<string> {
    return this.#fetch('/hit', { method: 'POST', headers, body: JSON.stringify({ type, key }) })
  }

  /** Increments several counters at once, again and again until that was taken. */
  async #increment(keys: readonly string[], idempotencyKey: string): Promise<void> {
    const init = {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': idempotencyKey,
      },
      body: JSON.stringify({ increments: keys.map((key) => ({ type: 'page_view', key })) }),
    }
    for (;;) {
      const said = await this.#fetch('/v1/increments', init)
      if (isTaken(said)) break
      await pause(AGAIN_MS)
    }
    for (const key of keys) this.#receipt(key).sure++
  }

  /** @returns what became of it: `X-Hit` */
  async #fetch(path: string, init: RequestInit = {}): Promise<string> {
    const began = Date.now()
    const headers = { 'User-Agent': BROWSER, ...(init.headers as Record<string, string>) }
    const response = await fetch(`${this.#url}${path}`, { ...init, headers, signal: AbortSignal.timeout(ANSWER_MS) })
    await response.arrayBuffer()
    this.slowestMs = Math.max(this.slowestMs, Date.now() - began)
    const said = response.headers.get('X-Hit') ?? ''
    const answer = `${response.status} ${said}`
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
    return said
  }

  #book(key: string, said: string): void {
    if (isTaken(said)) this.#receipt(key).sure++
    else if (said === 'unknown') this.#receipt(key).unsure++
  }

  /** A visitor counts once, however often somebody is told so. */
  #bookVisit(key: string, address: string, said: string): void {
    const visit = `${key} ${address}`
    if (isTaken(said)) this.#visits.set(visit, 'sure')
    else if (said === 'unknown' && !this.#visits.has(visit)) this.#visits.set(visit, 'unsure')
  }

  #receipt(key: string): Receipt {
    const known = this.receipts.get(key)
    if (known !== undefined) return known
    const receipt = { sure: 0, unsure: 0 }
    this.receipts.set(key, receipt)
    return receipt
  }
}

function isTaken(said: string): boolean {
  return said === 'counted' || said === 'queued'
}
