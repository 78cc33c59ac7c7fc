import { DAY_MS, MINUTE_MS } from '../calendar.ts'

/**
 * A look-up takes about 1.5 µs. So offsets are kept for both ends of a block, and looked up in between only if these differ. Since 1970, no
 * clocks were put forward and back again in less than a week.
 */
const BLOCK_MS = 4 * DAY_MS

/** The clocks of an IANA time zone, by the time zone data of the runtime. */
export class TimeZone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  /** At the start of each block, by its number: small integers are found faster than times. */
  readonly #offsets = new Map<number, number>()
  /** The last instant that is known to be before a change, and the first after it, by the number of their block. */
  readonly #changes = new Map<number, { before: number; after: number }>()
  readonly #texts = new Map<number, string>()

  /** @throws {RangeError} if there is no such time zone */
  constructor(name: string) {
    // The shortest text that has the offset in full: "1 AM GMT+05:30", or "GMT-00:44:30".
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, hour: 'numeric', timeZoneName: 'longOffset' })
    this.name = this.#format.resolvedOptions().timeZone
  }

  /** The offset from UTC at an instant. Both in milliseconds. */
  offsetAt(at: number): number {
    const block = Math.floor(at / BLOCK_MS)
    const [offset, later] = [this.#atStartOf(block), this.#atStartOf(block + 1)]
    if (offset === later) return offset
    const change = this.#changes.get(block) ?? { before: block * BLOCK_MS, after: (block + 1) * BLOCK_MS }
    if (at <= change.before) return offset
    if (at >= change.after) return later
    const found = this.#lookUp(at)
    if (found === offset) change.before = at
    else if (found === later) change.after = at
    this.#changes.set(block, change)
    return found
  }

  /** The local date at an instant, as the midnight in UTC with that date. */
  dateAt(at: number): number {
    return Math.floor((at + this.offsetAt(at)) / DAY_MS) * DAY_MS
  }

  /** The instant at which a date (midnight in UTC) begins. A date that was skipped begins with the next. */
  startOf(date: number): number {
    const before = this.offsetAt(date - DAY_MS)
    const after = this.offsetAt(date + DAY_MS)
    if (before === after) return date - before
    // Clocks that are put back may show midnight twice: the day begins with the first.
    for (const offset of [Math.max(before, after), Math.min(before, after)]) {
      if (this.offsetAt(date - offset) === offset) return date - offset
    }
    // Clocks that are put forward may skip midnight: the day begins with the change, at a whole second.
    let earlier = date - DAY_MS
    let later = date + DAY_MS
    while (later - earlier > 1_000) {
      const middle = earlier + Math.floor((later - earlier) / 2_000) * 1_000
      if (middle + this.offsetAt(middle) < date) earlier = middle
      else later = middle
    }
    return later
  }

  /** An instant as local time in whole seconds, with its offset in minutes, or with Z in UTC. */
  clockTime(at: number): string {
    const offset = this.offsetAt(at)
    const local = localText(at + offset)
    if (this.name === 'UTC') return `${local}Z`
    const text = this.#texts.get(offset) ?? textOf(offset)
    this.#texts.set(offset, text)
    return local + text
  }

  #atStartOf(block: number): number {
    let offset = this.#offsets.get(block)
    if (offset === undefined) {
      offset = this.#lookUp(block * BLOCK_MS)
      this.#offsets.set(block, offset)
    }
    return offset
  }

  #lookUp(at: number): number {
    const [, sign, hours, minutes, seconds = '0'] = /GMT([+-])(\d+):(\d+):?(\d+)?/.exec(this.#format.format(at)) ?? []
    if (sign === undefined) return 0
    const size = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1_000
    return sign === '-' ? -size : size
  }
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => `${number}`.padStart(2, '0'))

/** `toISOString` takes more than twice as long, and a history has 2,000 of them. */
function localText(local: number): string {
  const at = new Date(local)
  const [month, day] = [TWO_DIGITS[at.getUTCMonth() + 1], TWO_DIGITS[at.getUTCDate()]]
  const [hours, minutes] = [TWO_DIGITS[at.getUTCHours()], TWO_DIGITS[at.getUTCMinutes()]]
  return `${at.getUTCFullYear()}-${month}-${day}T${hours}:${minutes}:${TWO_DIGITS[at.getUTCSeconds()]}`
}

function textOf(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MINUTE_MS)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, '0'))
  return `${offset < 0 ? '-' : '+'}${hours}:${rest}`
}
