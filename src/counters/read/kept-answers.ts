import { BoundedMap } from '../../bounded-map.ts'
import { pause, SharedWork } from '../shared-work-state.ts'

/** Answers in one generation; two are kept. The largest, histories of 2,000 periods, take about 100 kB. */
const MAX_GENERATION = 50
/** How long a reading may take before another request repeats it. */
const MAX_READING_MS = 8_000
const MAX_PATIENCE_MS = 100

/** An answer, or the reading of it. Plain data that belongs to no request. */
interface Answer {
  /** In milliseconds since 1970. */
  askedAt: number
  outcome: { value: unknown } | { error: unknown } | null
}

/**
 * Keeps answers that read many rows, and shares them with concurrent requests: repeating a question costs the database nothing.
 * As in `SharedReads`, another request takes over a reading that falls silent.
 */
export class KeptAnswers {
  readonly #answers = new BoundedMap<Answer>(MAX_GENERATION)
  readonly #work = new SharedWork(MAX_READING_MS)

  /**
   * The answer to a question: a kept one, the one that another request is reading, or a new one.
   * @param question equal for equal answers only
   * @param waitUntil keeps a reading going for other requests if the client of its reader hangs up
   * @returns `askedAt`: when its reading began, in milliseconds since 1970; `isKept`: that was before the call
   * @throws what `read` throws, in all requests that wait for it
   */
  async answer<Value>(
    question: string,
    options: AnswerOptions<Value>,
  ): Promise<{ value: Value; askedAt: number; isKept: boolean }> {
    const { keptMs } = options
    const before = this.#answers.get(question)
    let answer = before !== undefined && isFresh(before, keptMs) ? before : await this.#read(question, options)
    while (answer.outcome === null) {
      const now = Date.now()
      // Another request may be reading it again.
      const latest = this.#answers.get(question)
      if (latest !== undefined && latest !== answer && isFresh(latest, keptMs)) answer = latest
      else if (this.#work.isDead(answer.askedAt + MAX_READING_MS, now)) answer = await this.#read(question, options)
      else await pause(this.#work.patience(answer.askedAt + this.#work.durationMs, now, MAX_PATIENCE_MS))
    }
    if ('error' in answer.outcome) throw answer.outcome.error
    return { value: answer.outcome.value as Value, askedAt: answer.askedAt, isKept: answer === before }
  }

  async #read(question: string, { read, waitUntil }: AnswerOptions<unknown>): Promise<Answer> {
    const now = Date.now()
    const answer: Answer = { askedAt: now, outcome: null }
    this.#answers.set(question, answer)
    const reading = read().then(
      (value) => {
        this.#work.took(Date.now() - now)
        answer.outcome = { value }
      },
      (error: unknown) => {
        answer.outcome = { error }
      },
    )
    waitUntil(reading)
    await reading
    return answer
  }
}

interface AnswerOptions<Value> {
  keptMs: number
  read: () => Promise<Value>
  waitUntil: (work: Promise<unknown>) => void
}

/** Whether an answer may be given: it is being read, or is not too old. Errors are not kept. */
function isFresh({ askedAt, outcome }: Answer, keptMs: number): boolean {
  const age = Date.now() - askedAt
  // A negative age means that the clock was set back.
  return outcome === null || ('value' in outcome && age >= 0 && age < keptMs)
}
