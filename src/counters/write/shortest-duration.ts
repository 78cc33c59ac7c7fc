/** How long the shortest duration is kept at least. At most twice as long while others follow. */
const WINDOW_MS = 5_000

/**
 * The shortest duration measured lately: how long the work takes if it never waits in line. BBR estimates the round-trip
 * propagation time in the same way: Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14 (5), 2016.
 */
export class ShortestDuration {
  #since = 0
  #current = Number.POSITIVE_INFINITY
  #previous = Number.POSITIVE_INFINITY

  /** Infinity before the first measurement. */
  get milliseconds(): number {
    return Math.min(this.#current, this.#previous)
  }

  /**
   * Records a duration that ended now. Both in milliseconds, `now` of `Date.now()`. Without I/O a Worker's clock stands still,
   * so zero means that nothing was sent. Less means that the clock was set back. Neither is recorded.
   */
  took(milliseconds: number, now: number): void {
    if (milliseconds <= 0) return
    // A window in the future means that the clock was set back.
    if (now - this.#since > WINDOW_MS || now < this.#since) {
      this.#since = now
      this.#previous = this.#current
      this.#current = milliseconds
    } else {
      this.#current = Math.min(this.#current, milliseconds)
    }
  }
}
