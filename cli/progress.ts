/** Milliseconds between two texts. A terminal shows only the latest. */
const EVERY_MS = process.stderr.isTTY ? 100 : 5_000
let next = Date.now() + EVERY_MS

/** Says on standard error how far a command is, now and then: in a terminal in one line, otherwise in a line each time. */
export function sayProgress(text: string): void {
  if (Date.now() < next) return
  next = Date.now() + EVERY_MS
  // The cursor goes back, so that the next text replaces this one.
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text} …\r` : `${text} …\n`)
}

/** Removes the text from the terminal. */
export function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\x1b[K')
}
