import { Readable } from 'node:stream'
import { openInputFile } from '../input-file.ts'
import { splitLines } from '../lines.ts'

/** Longer lines are cut: no server accepts such a request. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/** Opens a log, plain or compressed with gzip, or for `-` standard input. @throws {Error} if there is no such file */
export async function openAccessLog(path: string) {
  const { chunks, ...file } = await openInputFile(path)
  return {
    lines: splitLines(Readable.from(chunks, { objectMode: false }).setEncoding('utf8'), MAX_LINE_CHARACTERS),
    ...file,
  }
}
