import { splitLines } from '../lines.ts'
import { LineError, type Mistakes } from './mistakes.ts'

/** The longest line. */
const MAX_CHARACTERS = 64 * 1024

/** An object of a JSON lines file. */
export interface JsonObject {
  line: number
  /** Its members. Numbers are their digits. */
  members: Record<string, unknown>
}

/** Reads JSON lines, one object a line. Blank lines are skipped. @param mistakes gets the lines that are no objects */
export async function* readJsonObjects(texts: AsyncIterable<string>, mistakes: Mistakes): AsyncGenerator<JsonObject> {
  let line = 0
  for await (const text of splitLines(texts, MAX_CHARACTERS + 1)) {
    line++
    if (text.trimStart() === '') continue
    const members = mistakes.try(() => membersOf(line, text))
    if (members !== undefined) yield { line, members }
  }
}

function membersOf(line: number, text: string): Record<string, unknown> {
  if (text.trimStart().startsWith('['))
    throw new LineError(line, "JSON arrays are not read; write one object a line, for example with: jq -c '.[]'")
  if (text.length > MAX_CHARACTERS) throw new LineError(line, `the line is longer than ${MAX_CHARACTERS} characters`)
  try {
    const value: unknown = JSON.parse(text, numberDigits)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw new LineError(line, 'this is not JSON lines; write one object a line')
}

/** A reviver that returns numbers as their digits. JavaScript would round those beyond 2^53. */
function numberDigits(_: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value
}
