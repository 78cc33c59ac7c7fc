import { LineError } from './mistakes.ts'

/** Characters by which a file is recognized. */
const BEGINNING = 64 * 1024

/** A text, of which the beginning has been read. */
export interface InputText {
  beginning: string
  /** JSON begins with a brace or a bracket; everything else is CSV. */
  isJson: boolean
  /** The whole text, in pieces. */
  pieces: AsyncGenerator<string>
}

/** Decodes UTF-8. @throws {LineError} if a text has another encoding, also while `pieces` is read: its keys would be wrong */
export async function readText(chunks: AsyncIterable<Buffer>): Promise<InputText> {
  const decoded = decode(chunks)
  let beginning = ''
  while (beginning.length < BEGINNING) {
    const next = await decoded.next()
    if (next.done) break
    beginning += next.value
  }
  async function* pieces(): AsyncGenerator<string> {
    yield beginning
    yield* decoded
  }
  return { beginning, isJson: /^\s*[[{]/.test(beginning), pieces: pieces() }
}

async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
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
    yield strictly(chunk)
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) line++
  }
  yield strictly()
}
