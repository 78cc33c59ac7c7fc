import { Agent, request } from 'node:http'
import type { Keys } from '../../simulation/keys.ts'
import type { Random } from '../../simulation/random.ts'

// A browser's, because the bot check ignores others.
const HEADERS = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }
const ANSWER_MS = 10_000

/** Sends hits whose number a second does not depend on how fast they are answered, unlike wrk's. */
export class OpenLoad {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1_000 })

  /**
   * Sends one hit.
   *
   * @returns milliseconds until the answer
   * @throws {Error} if it was not counted
   */
  hit(url: string, key: string): Promise<number> {
    const began = performance.now()
    const path = `${url}/hit?type=page_view&key=${encodeURIComponent(key)}`
    return new Promise((resolve, reject) => {
      const sent = request(
        path,
        { method: 'POST', headers: HEADERS, agent: this.#agent, timeout: ANSWER_MS },
        (answer) => {
          answer.resume()
          answer.on('end', () => {
            if (answer.headers['x-hit'] === 'counted') resolve(performance.now() - began)
            else reject(new Error(`a hit was answered with ${answer.statusCode} ${answer.headers['x-hit']}`))
          })
        },
      )
      sent.on('timeout', () => sent.destroy(new Error('a hit was not answered')))
      // The Worker may close an idle connection just when it is used again: then it never saw the hit.
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET' && sent.reusedSocket) resolve(this.hit(url, key))
        else reject(error)
      })
      sent.end()
    })
  }

  /**
   * Sends hits as many independent visitors would: with exponentially distributed pauses, each to one of the Workers.
   *
   * @returns how many were sent, in how many seconds, after all were answered
   */
  async run(
    urls: readonly string[],
    { keys, hitsPerSecond, seconds }: { keys: Keys; hitsPerSecond: number; seconds: number },
    random: Random,
    signal: AbortSignal,
  ): Promise<{ sent: number; seconds: number; failures: string[] }> {
    const failures: string[] = []
    const answers: Promise<unknown>[] = []
    const began = performance.now()
    let at = 0
    while (at < seconds * 1_000) {
      signal.throwIfAborted()
      while (at <= performance.now() - began) {
        const url = urls[Math.floor(random.fraction() * urls.length)]!
        const key = keys.address(keys.draw(random)).name!
        answers.push(this.hit(url, key).catch((error: unknown) => failures.push(String(error))))
        at += random.exponential(1_000 / hitsPerSecond)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const took = (performance.now() - began) / 1_000
    await Promise.all(answers)
    return { sent: answers.length, seconds: took, failures }
  }

  close(): void {
    this.#agent.destroy()
  }
}
