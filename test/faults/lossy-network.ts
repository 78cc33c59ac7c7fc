import type { Random } from '../harness/random.ts'
import { BATCH } from './late-network.ts'

/** Probability that a statement fails, and that one arrives twice. */
const FAULTY = 0.04
/**
 * What the endpoint must do for a database behind this network: refuse what the network marks, with errors after which a statement
 * certainly was not applied (deadlock, lock wait, full disk).
 */
export const REFUSED = [1213, 1205, 1114].map((errno) => {
  return { action: 'error' as const, errno, match: `^/\\* refused ${errno}`, times: Number.MAX_SAFE_INTEGER }
})
/** Probability that a statement fails once more if it is sent again: troubles come together. */
const FAULTY_AGAIN = 0.5
const FAULTS = ['lost', 'late', 'unanswered', 'refused'] as const
/** Most milliseconds that a statement is late. Those that are sent later are answered in this time. */
const MOST_LATE_MS = 1_500

/**
 * A network between this process and an endpoint. Of all statements, BEGIN, COMMIT and ROLLBACK too, some are lost, some arrive
 * after they were given up, of some the answer is lost, and some are refused by the server (`REFUSED`). In an outage, that
 * happens to all. Some of those outside transactions also arrive twice. Batches do not: a batch may do so only if an attempt at it
 * failed, because its slot is used again otherwise.
 */
export class LossyNetwork {
  /** Number of statements. */
  readonly number = { sent: 0, lost: 0, late: 0, unanswered: 0, refused: 0, twice: 0 }
  /** Milliseconds that a statement takes: a moving average. */
  statementMs = 0
  readonly #random: Random
  /** With the text of each. */
  readonly #inFlight = new Map<Promise<unknown>, string>()
  readonly #failed = new Set<string>()
  #healed = false
  #outage: { fault: (typeof FAULTS)[number]; until: number } | null = null

  constructor(random: Random) {
    this.#random = random
  }

  /** For `openDatabase`. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { query, session } = JSON.parse(String(init?.body))
    // Without the signal: a statement that its client gives up goes on, and is waited for.
    const pass = (body = init!.body!) =>
      this.#watched(query, fetch(input, { ...init, body, signal: null }).then(withBody))
    const passLate = () => {
      const late = pause(this.#random.between(0, MOST_LATE_MS)).then(() => pass())
      this.#watched(query, late).catch(() => {})
    }
    const { SessionUUID = '', inTransaction = false } = session?.vitessSession ?? {}
    this.number.sent++
    const fault = this.#faultOf(`${SessionUUID} ${query}`)
    if (fault !== null) {
      this.number[fault]++
      if (fault === 'refused') {
        const { errno } = this.#random.pick(REFUSED)
        return pass(JSON.stringify({ query: `/* refused ${errno} */ ${query}`, session }))
      }
      if (fault === 'late') passLate()
      if (fault === 'unanswered') await pass()
      throw new TypeError(`the test's network: ${fault}`)
    }
    const began = performance.now()
    const answer = await pass()
    this.statementMs += (performance.now() - began - this.statementMs) / 20
    const isAlone = !inTransaction && !/^(BEGIN|COMMIT|ROLLBACK)$/.test(query)
    if (isAlone && !BATCH.test(query) && !this.#healed && this.#random.chance(FAULTY)) {
      this.number.twice++
      passLate()
    }
    return answer
  }

  /** Makes everything arrive once from now on, and be answered. */
  heal(): void {
    this.#healed = true
  }

  /** Waits until the statements were carried out that are on their way now and contain a text. */
  async settle(text = ''): Promise<void> {
    await Promise.allSettled([...this.#inFlight].flatMap(([work, query]) => (query.includes(text) ? [work] : [])))
  }

  /** Makes everything fail in the same way for some milliseconds. */
  outage(milliseconds: number): void {
    this.#outage = { fault: this.#random.pick(FAULTS), until: performance.now() + milliseconds }
  }

  #faultOf(statement: string): (typeof FAULTS)[number] | null {
    const again = this.#failed.delete(statement)
    if (this.#healed) return null
    if (this.#outage !== null && performance.now() < this.#outage.until) return this.#outage.fault
    if (!this.#random.chance(again ? FAULTY_AGAIN : FAULTY)) return null
    this.#failed.add(statement)
    return this.#random.pick(FAULTS)
  }

  #watched<T>(query: string, work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#inFlight.delete(watched))
    this.#inFlight.set(watched, query)
    return watched
  }
}

async function withBody(answer: Response): Promise<Response> {
  return new Response(await answer.text(), answer)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
