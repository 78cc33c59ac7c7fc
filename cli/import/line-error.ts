/** A mistake on a line of a file. */
export class LineError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

/** The beginning of a text that strangers chose, for a message: without line breaks, invisible characters and escapes. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100)).replace(/\p{C}/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}
