import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** A file to read. */
export interface InputFile {
  /** What is in it, decompressed. */
  chunks: AsyncGenerator<Buffer>
  /** Bytes read so far, before decompression. */
  bytesRead: () => number
  /** Its size in bytes; `null` if it cannot be known. */
  size: number | null
}

/**
 * Opens a file, plain or compressed with gzip.
 *
 * @param path a file, or `-` for standard input
 * @throws {Error} if it cannot be read
 */
export async function openInputFile(path: string): Promise<InputFile> {
  const size = path === '-' ? null : (await stat(path)).size
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    // Opened no sooner than it is read: a stream that fails while nobody listens ends the process.
    const source: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path)
    for await (const chunk of source) {
      bytes += chunk.length
      yield chunk
    }
  }
  return { chunks: decompress(counted()), bytesRead: () => bytes, size }
}

/** Decompresses what begins like gzip; passes on everything else. */
async function* decompress(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await chunks.next()
  if (first.done) return
  async function* all(): AsyncGenerator<Buffer> {
    yield first.value!
    yield* chunks
  }
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isGzip) return yield* all()
  const gunzip = createGunzip()
  // An error ends gunzip, and with it the loop below.
  pipeline(Readable.from(all()), gunzip, () => {})
  yield* gunzip as AsyncIterable<Buffer>
}
