import { numberDigits } from '../exact-json.ts'
import { LineError } from './line-error.ts'

/**
 * Parses JSON documents that follow each other, such as the pages of an answer.
 *
 * @returns each value with the line on which it begins; numbers are their digits
 * @throws {LineError} if one is not JSON
 */
export function* parseJsonDocuments(text: string): Generator<{ line: number; value: unknown }> {
  let line = 1
  for (let at = 0; at < text.length; ) {
    const end = endOfDocument(text, at)
    const document = text.slice(at, end)
    const first = /\S/.exec(document)
    if (first !== null) {
      const begin = line + lineBreaks(document.slice(0, first.index))
      yield { line: begin, value: parse(document, begin) }
    }
    line += lineBreaks(document)
    at = end
  }
}

/** The end of the array or object that begins after `start`; the end of the text if it is not closed. */
function endOfDocument(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '[' || character === '{') depth++
    else if ((character === ']' || character === '}') && --depth <= 0) return at + 1
  }
  return text.length
}

function parse(document: string, line: number): unknown {
  try {
    return JSON.parse(document, numberDigits)
  } catch {
    throw new LineError(line, 'what begins here is not JSON, or it ends too early')
  }
}

function lineBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
