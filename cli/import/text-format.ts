import { MAX_CSV_BYTES } from './csv-records.ts'
import { LineError } from './line-error.ts'

export type TextFormat = 'csv' | 'json'

/**
 * Looks at the beginning of a text: JSON begins with a brace or a bracket.
 *
 * @returns the format and the whole text; `null` if there is nothing but blanks
 * @throws {LineError} if there are too many blanks to go on
 */
export async function detectFormat(
  texts: AsyncGenerator<string>,
): Promise<{ format: TextFormat; texts: AsyncGenerator<string> } | null> {
  let begin = ''
  while (begin.trim() === '') {
    const next = await texts.next()
    if (next.done) return null
    begin += next.value
    if (begin.length > MAX_CSV_BYTES && begin.trim() === '') throw new LineError(1, 'there is nothing but blanks')
  }
  async function* all(): AsyncGenerator<string> {
    yield begin
    yield* texts
  }
  return { format: /^\s*[[{]/.test(begin) ? 'json' : 'csv', texts: all() }
}
