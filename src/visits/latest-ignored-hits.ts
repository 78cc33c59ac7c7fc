import type { HitReason } from '../hit-reasons.ts'

export interface IgnoredHit {
  type: string
  reason: HitReason
  /** The origin of its page, if any. */
  origin: string | null
  at: Date
}

/** Characters of an origin that are kept. It comes from strangers. */
const MAX_ORIGIN = 200

/** The latest uncounted hit of each type, in one isolate, for owners who wonder why nothing is counted. Plain data. */
export class LatestIgnoredHits {
  readonly #byType = new Map<string, IgnoredHit>()

  /** @param type the name of a configured type @param page its origin or URL */
  remember(type: string, reason: HitReason, page: string | null, at: Date): void {
    const origin = page !== null && URL.canParse(page) ? new URL(page).origin.slice(0, MAX_ORIGIN) : null
    this.#byType.set(type, { type, reason, origin, at })
  }

  /** The latest one first. */
  list(): IgnoredHit[] {
    return [...this.#byType.values()].sort((a, b) => b.at.getTime() - a.at.getTime())
  }
}
