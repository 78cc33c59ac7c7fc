import { numberDigits } from '../exact-json.ts'
import { splitLines } from '../lines.ts'
import { LineError } from './line-error.ts'

/** The longest line. */
const MAX_CHARACTERS = 64 * 1024

/** An object of a JSON lines file. */
export interface JsonObject {
  line: number
  /** Its members. Numbers are their digits. */
  members: Record<string, unknown>
}

/**
 * Reads JSON lines, one object a line. Blank lines are skipped.
 *
 * @throws {LineError} at the first line that is no object
 */
export async function* readJsonObjects(texts: AsyncIterable<string>): AsyncGenerator<JsonObject> {
  let line = 0
  for await (const text of splitLines(texts, MAX_CHARACTERS + 1)) {
    line++
    const begin = text.trimStart()
    if (begin === '') continue
    if (begin.startsWith('['))
      throw new LineError(line, "JSON arrays are not read; write one object a line, for example with: jq -c '.[]'")
    if (text.length > MAX_CHARACTERS) throw new LineError(line, `the line is longer than ${MAX_CHARACTERS} characters`)
    const value = parseJson(text)
    if (typeof value !== 'object' || value === null)
      throw new LineError(line, 'this is not JSON lines; write one object a line')
    yield { line, members: value as Record<string, unknown> }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, numberDigits)
  } catch {
    return undefined
  }
}
