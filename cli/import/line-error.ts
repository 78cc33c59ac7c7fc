import { visibleKey } from '../../src/visible-key.ts'

/** A mistake on a line of a file. */
export class LineError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

/** The beginning of a text that strangers chose, for a message. */
export function quoted(text: string): string {
  return `"${visibleKey(text.slice(0, 100))}"`
}
