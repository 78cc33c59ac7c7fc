import { BoundedMap } from '../../bounded-map.ts'
import { pause, SharedWork } from '../shared-work-state.ts'

/** Answers in one generation; two are kept. The largest, histories of 2,000 periods, take about 100 kB. */
const MAX_GENERATION = 50
/** Milliseconds that a reading may take before another request reads the same again. */
const MAX_READING_MS = 8_000
/** The longest that a request waits before it looks again, in milliseconds. */
const MAX_PATIENCE_MS = 100

/** What was read, or why it could not be. */
type Outcome = { value: unknown } | { error: unknown }

/** One answer, or the reading of it. Plain data that belongs to no request. */
interface Answer {
  /** Milliseconds since 1970. */
  askedAt: number
  expectedAt: number
  aliveUntil: number
  outcome: Outcome | null
}

/**
 * Keeps answers that read many rows, and shares them with all who ask meanwhile, so that asking again and again costs the database
 * nothing. Like `SharedReads`, it shares plain data only, and a request takes over from one that has fallen silent.
 */
export class KeptAnswers {
  readonly #answers = new BoundedMap<Answer>(MAX_GENERATION)
  readonly #work = new SharedWork({ maxSilenceMs: MAX_READING_MS, maxDurationMs: MAX_READING_MS })

  /**
   * The answer to a question: one that is kept, the one that another request is reading, or a new one.
   *
   * @param question the same text for the same answer
   * @param waitUntil keeps a reading going for the other requests when the client of its reader hangs up
   * @returns `askedAt`: when its reading began, in milliseconds since 1970
   * @throws what `read` throws, in all requests that wait for it
   */
  async answer<Value>(
    question: string,
    { keptMs, read, waitUntil }: AnswerOptions<Value>,
  ): Promise<{ value: Value; askedAt: number }> {
    const kept = this.#answers.get(question)
    let answer = kept !== undefined && isFresh(kept, keptMs) ? kept : await this.#read(question, read, waitUntil)
    while (answer.outcome === null) {
      const now = Date.now()
      // Another request may have begun to read it again.
      const latest = this.#answers.get(question)
      if (latest !== undefined && latest !== answer && isFresh(latest, keptMs)) answer = latest
      else if (this.#work.isSilent(answer.aliveUntil, now)) answer = await this.#read(question, read, waitUntil)
      else await pause(this.#work.patience(answer.expectedAt, now, MAX_PATIENCE_MS))
    }
    if ('error' in answer.outcome) throw answer.outcome.error
    return { value: answer.outcome.value as Value, askedAt: answer.askedAt }
  }

  async #read(
    question: string,
    read: () => Promise<unknown>,
    waitUntil: AnswerOptions<unknown>['waitUntil'],
  ): Promise<Answer> {
    const now = Date.now()
    const answer: Answer = {
      askedAt: now,
      expectedAt: now + this.#work.durationMs,
      aliveUntil: this.#work.aliveUntil(now + MAX_READING_MS),
      outcome: null,
    }
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

/** How to read an answer, and how long to keep it, in milliseconds. */
interface AnswerOptions<Value> {
  keptMs: number
  read: () => Promise<Value>
  waitUntil: (work: Promise<unknown>) => void
}

/** Whether an answer may be given: one that is being read, or one that is not too old. Errors are not kept. */
function isFresh({ askedAt, outcome }: Answer, keptMs: number): boolean {
  const age = Date.now() - askedAt
  // A negative age means that the clock was set back.
  return outcome === null || ('value' in outcome && age >= 0 && age < keptMs)
}
