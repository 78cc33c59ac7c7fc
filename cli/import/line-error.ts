/** A mistake in a file, on a line if the file is read by lines. */
export class LineError extends Error {
  readonly line: number | null

  constructor(line: number | null, message: string) {
    super(line === null ? message : `line ${line}: ${message}`)
    this.line = line
  }
}
