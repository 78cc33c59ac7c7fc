import { LineError } from './line-error.ts'

const ZIP = Buffer.from('PK\x03\x04')

/**
 * Decodes UTF-8. Text in another encoding is refused, because its keys would be wrong.
 *
 * @param unzip what to do with a zip file
 * @throws {LineError} if it is not UTF-8
 */
export async function* decodeText(chunks: AsyncIterable<Buffer>, unzip = 'extract it first'): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  let begin = Buffer.alloc(0)
  const strictly = (chunk?: Buffer) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new LineError(line, 'the file is not UTF-8, from about this line on')
    }
  }
  for await (const chunk of chunks) {
    if (begin.length < ZIP.length) {
      begin = Buffer.concat([begin, chunk]).subarray(0, ZIP.length)
      if (begin.equals(ZIP)) throw new LineError(1, `this is a zip file; ${unzip}`)
    }
    const text = strictly(chunk)
    if (text !== '') yield text
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line++
  }
  const rest = strictly()
  if (rest !== '') yield rest
}
