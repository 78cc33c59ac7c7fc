import { RefusedError } from '../retried.ts'

/** A mistake on a line of a file. */
export class LineError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

/** The most mistakes that are listed. All are counted. */
const MAX_LISTED = 50

/** The mistakes on the lines of a file, so that all of them are named at once. */
export class Mistakes {
  #count = 0
  readonly #listed: LineError[] = []

  add(error: LineError): void {
    this.#count++
    if (this.#listed.length < MAX_LISTED) this.#listed.push(error)
  }

  /** Handles a line. @returns `undefined` if it is wrong */
  try<T>(handle: () => T): T | undefined {
    try {
      return handle()
    } catch (error) {
      if (!(error instanceof LineError)) throw error
      this.add(error)
    }
  }

  /** Reads all lines. A `LineError` that is thrown is a mistake after which nothing can be read. @throws {RefusedError} */
  async all<T>(read: () => Promise<T>): Promise<T> {
    const result = await read().catch((error: unknown) => {
      if (!(error instanceof LineError)) throw error
      this.add(error)
    })
    this.throwIfAny()
    return result as T
  }

  /** @throws {RefusedError} */
  throwIfAny(): void {
    if (this.#count === 0) return
    const listed = this.#listed.toSorted((a, b) => a.line - b.line).map(({ message }) => message)
    const more = this.#count - listed.length
    if (more > 0) listed.push(`and ${more} more`)
    throw new RefusedError(this.#count === 1 ? listed[0]! : `${this.#count} lines are wrong:\n${listed.join('\n')}`)
  }
}
