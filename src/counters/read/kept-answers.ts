import { BoundedMap } from '../../bounded-map.ts'
import { TooManyKeys } from '../keys/prefix.ts'
import { pause, SharedWork, type WaitUntil } from '../shared-work-state.ts'

const MAX_PATIENCE_MS = 100

/** An answer, or the reading of it. Plain data that belongs to no request. */
interface Answer {
  /** In milliseconds since 1970. */
  askedAt: number
  outcome: PromiseSettledResult<unknown> | null
}

/** What identifies a question. */
export type Question = readonly (string | number | boolean | null)[]

interface AnswerOptions<Value> {
  /** For how long an answer is kept, and the reading of one is joined. 0: the answer is read after the call. */
  keptMs: number
  read: () => Promise<Value>
  /** Keeps a reading going for other requests if the client of its reader hangs up. */
  waitUntil: WaitUntil
}

/** Shares answers under the rules of `SharedWork`: who asks while a question is being asked, or some time later, gets the same answer. */
export class KeptAnswers {
  /** The largest, histories of 2,000 periods, take about 100 kB. */
  readonly #answers = new BoundedMap<Answer>(50)
  readonly #maxReadingMs: number
  readonly #work: SharedWork

  /** @param maxReadingMs how long a reading may take before another request repeats it */
  constructor(maxReadingMs = 8_000) {
    this.#maxReadingMs = maxReadingMs
    this.#work = new SharedWork(maxReadingMs)
  }

  /**
   * The answer to a question: a kept one, the one that another request is reading, or a new one.
   * @returns `askedAt`: when its reading began, in milliseconds since 1970; `isKept`: that was before the call
   * @throws what `read` throws, in all requests that wait for it
   */
  async answer<Value>(asked: Question, { keptMs, read, waitUntil }: AnswerOptions<Value>) {
    const question = JSON.stringify(asked)
    const earlier = this.#answers.get(question)
    const isAccepted = earlier !== undefined && isFresh(earlier, keptMs)
    let answer = earlier
    while (answer === undefined || answer.outcome === null || (answer === earlier && !isAccepted)) {
      const latest = this.#answers.get(question)
      const mayRead = answer === undefined || answer.outcome !== null || this.#isSilent(answer)
      // Another request has begun a reading since.
      if (latest !== undefined && latest !== earlier && latest !== answer) answer = latest
      else if (mayRead) answer = await this.#read(question, read, waitUntil)
      else await pause(this.#work.patience(answer!.askedAt + this.#work.durationMs, Date.now(), MAX_PATIENCE_MS))
    }
    if (answer.outcome.status === 'rejected') throw answer.outcome.reason
    return { value: answer.outcome.value as Value, askedAt: answer.askedAt, isKept: answer === earlier }
  }

  #isSilent({ askedAt }: Answer): boolean {
    return this.#work.isDead(askedAt + this.#maxReadingMs, Date.now())
  }

  async #read(question: string, read: () => Promise<unknown>, waitUntil: WaitUntil): Promise<Answer> {
    const answer: Answer = { askedAt: Date.now(), outcome: null }
    this.#answers.set(question, answer)
    const reading = Promise.allSettled([read()]).then(([outcome]) => {
      if (outcome.status === 'fulfilled') this.#work.took(Date.now() - answer.askedAt)
      answer.outcome = outcome
    })
    waitUntil(reading)
    await reading
    return answer
  }
}

/** Whether an answer may be given: it is being read, or is not too old. Of errors only `TooManyKeys`, which takes as many rows. */
function isFresh({ askedAt, outcome }: Answer, keptMs: number): boolean {
  const age = Date.now() - askedAt
  const isKept = outcome?.status === 'fulfilled' || outcome?.reason instanceof TooManyKeys
  // A negative age means that the clock was set back.
  return keptMs > 0 && (outcome === null || (isKept && age >= 0 && age < keptMs))
}
