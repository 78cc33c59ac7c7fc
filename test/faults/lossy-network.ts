import type { Random } from '../harness/random.ts'
import { BATCH } from './late-network.ts'

/** Probability that a statement fails, and that one arrives twice. */
const FAULTY = 0.04
/** Probability that a statement fails once more if it is sent again: troubles come together. */
const FAULTY_AGAIN = 0.5
/** Most milliseconds that a statement is late. Those that are sent later are answered in this time. */
const MOST_LATE_MS = 1_500

/**
 * A network between this process and an endpoint. Of all statements, BEGIN, COMMIT and ROLLBACK too, some are lost, some arrive
 * after they were given up, and of some the answer is lost. Some of those outside transactions also arrive twice. Batches do not:
 * a batch may do so only if an attempt at it failed, because its slot is used again otherwise.
 */
export class LossyNetwork {
  /** Number of statements. */
  readonly number = { sent: 0, lost: 0, late: 0, unanswered: 0, twice: 0 }
  /** Milliseconds that a statement takes: a moving average. */
  statementMs = 0
  readonly #random: Random
  /** With the text of each. */
  readonly #inFlight = new Map<Promise<unknown>, string>()
  readonly #failed = new Set<string>()
  #healed = false

  constructor(random: Random) {
    this.#random = random
  }

  /** For `openDatabase`. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { query, session } = JSON.parse(String(init?.body))
    // Without the signal: a statement that its client gives up goes on, and is waited for.
    const pass = () => this.#watched(query, fetch(input, { ...init, signal: null }).then(withBody))
    const passLate = () => {
      const late = pause(this.#random.between(0, MOST_LATE_MS)).then(pass)
      this.#watched(query, late).catch(() => {})
    }
    const { SessionUUID = '', inTransaction = false } = session?.vitessSession ?? {}
    this.number.sent++
    if (this.#fails(`${SessionUUID} ${query}`)) {
      const fault = this.#random.pick(['lost', 'late', 'unanswered'] as const)
      this.number[fault]++
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

  #fails(statement: string): boolean {
    const again = this.#failed.delete(statement)
    if (this.#healed || !this.#random.chance(again ? FAULTY_AGAIN : FAULTY)) return false
    this.#failed.add(statement)
    return true
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
