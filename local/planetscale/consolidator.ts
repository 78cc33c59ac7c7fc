import { COMMENT } from './statement-verb.ts'

const MARGINS = new RegExp(`^(?:\\s|${COMMENT})+|(?:\\s|;|${COMMENT})+$`, 'g')
const SELECT = /^[(\s]*SELECT\b/i
const DISABLED = /^[(\s]*SELECT\s*\/\*vt\+[^*]*\bCONSOLIDATOR=disabled\b/i

/**
 * Lets a SELECT outside transactions join an identical one that is running, and share its result, which may be older than the
 * SELECT itself. vttablet does so by default, FOR UPDATE included (Vitess go/vt/vttablet/tabletserver/query_executor.go,
 * `execSelect`). Comments before and after the statement make no difference. Those after the word SELECT do, and
 * `CONSOLIDATOR=disabled` after the first one switches it off, for a UNION too (seen with Vitess 0.23).
 */
export class Consolidator<T> {
  readonly #running = new Map<string, Promise<T>>()

  /** @param read runs the statement if there is none to join */
  run(sql: string, read: () => Promise<T>): Promise<T> {
    const text = sql.replace(MARGINS, '')
    if (!SELECT.test(text) || DISABLED.test(text)) return read()
    const running = this.#running.get(text)
    if (running !== undefined) return running
    const result = read().finally(() => this.#running.delete(text))
    this.#running.set(text, result)
    return result
  }
}
