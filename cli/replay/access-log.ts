import { StringDecoder } from 'node:string_decoder'
import { openInputFile } from '../input-file.ts'
import { splitLines } from '../lines.ts'

/** Longer lines are cut: no server accepts such a request. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/** Opens a log, plain or compressed with gzip, or for `-` standard input. @throws {Error} if there is no such file */
export async function openAccessLog(path: string) {
  const { chunks, ...file } = await openInputFile(path)
  return { lines: splitLines(decode(chunks), MAX_LINE_CHARACTERS), ...file }
}

async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}
