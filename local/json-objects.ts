/** Longest object that is looked at, in characters; a longer one is no counter. */
const MAX_CHARACTERS = 64 * 1024

/** The text of one object, and the line on which it begins. */
export interface ObjectText {
  text: string
  line: number
}

/** Something that is not what it should be, on a line of a file. */
export class LineError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

/**
 * Cuts an array of objects, or objects one after another, into the texts of the objects, without reading all of it into
 * memory. What is in them is for `JSON.parse` to say, to which they can be given one by one, with the digits of its numbers.
 *
 * @throws {LineError} for anything between the objects that does not belong there, and if the end is missing
 */
export async function* splitObjects(chunks: AsyncIterable<string>): AsyncGenerator<ObjectText> {
  let line = 1
  let depth = 0
  let inString = false
  let escaped = false
  let text = ''
  let beginsOn = 1
  // What the array, if it is one, is at.
  let array: 'none' | 'open' | 'closed' = 'none'
  let objects = 0
  let expected: 'object' | 'separator' = 'object'
  let comma = false
  for await (const chunk of chunks) {
    let begin = 0
    for (let i = 0; i < chunk.length; i++) {
      const character = chunk[i]!
      if (character === '\n') line++
      if (depth > 0) {
        if (inString) {
          if (escaped) escaped = false
          else if (character === '\\') escaped = true
          else if (character === '"') inString = false
        } else if (character === '"') inString = true
        else if (character === '{' || character === '[') depth++
        else if ((character === '}' || character === ']') && --depth === 0) {
          yield { text: text + chunk.slice(begin, i + 1), line: beginsOn }
          text = ''
          objects++
          expected = 'separator'
        }
        if (text.length + i - begin > MAX_CHARACTERS) throw new LineError(beginsOn, 'this object is too long')
      } else if (character === '{' && array !== 'closed' && (array === 'none' || expected === 'object')) {
        depth = 1
        begin = i
        beginsOn = line
        comma = false
      } else if (character === '[' && array === 'none' && objects === 0) array = 'open'
      else if (character === ']' && array === 'open' && !comma) array = 'closed'
      else if (character === ',' && array === 'open' && expected === 'separator') {
        expected = 'object'
        comma = true
      } else if (!' \t\r\n'.includes(character)) {
        throw new LineError(line, 'expected an array of objects, or one object after another')
      }
    }
    if (depth > 0) text += chunk.slice(begin)
  }
  if (depth > 0 || array === 'open') throw new LineError(line, 'the file ends too early')
}
