import { LineError } from './line-error.ts'

/**
 * Decodes UTF-8. Text in another encoding is refused, because its keys would be wrong.
 *
 * @throws {LineError} at the first byte that is not UTF-8
 */
export async function* decodeUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const strictly = (chunk?: Buffer) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new LineError(line, 'the file is not UTF-8, from about this line on')
    }
  }
  for await (const chunk of chunks) {
    const text = strictly(chunk)
    if (text !== '') yield text
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line++
  }
  const rest = strictly()
  if (rest !== '') yield rest
}
