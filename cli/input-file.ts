import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** A file to read. */
export interface InputFile {
  /** The decompressed content. */
  chunks: AsyncGenerator<Buffer>
  /** Bytes read so far, before decompression. */
  bytesRead: () => number
  /** Its size in bytes before decompression; `null` for standard input. */
  size: number | null
}

/**
 * Opens a file, plain or compressed with gzip.
 *
 * @param path a file, or `-` for standard input
 * @throws {Error} if there is no such file
 */
export async function openInputFile(path: string): Promise<InputFile> {
  const size = path === '-' ? null : (await stat(path)).size
  return inputFile(() => (path === '-' ? process.stdin : createReadStream(path)), size)
}

/**
 * Opens a file as often as it is wanted. What can be read only once, such as standard input, is copied into a file that the
 * system removes when the process ends.
 *
 * @throws {Error} if there is no such file
 */
export async function openAgain(path: string): Promise<() => InputFile> {
  const about = path === '-' ? null : await stat(path)
  if (about?.isFile()) return () => inputFile(() => createReadStream(path), about.size)
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  const copy = await open(join(folder, 'input'), 'wx+', 0o600)
  await rm(folder, { recursive: true })
  for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) await copy.appendFile(chunk)
  return () => inputFile(() => copy.createReadStream({ start: 0, autoClose: false }), null)
}

function inputFile(open: () => AsyncIterable<Buffer>, size: number | null): InputFile {
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    // Opened only when it is read: a stream that fails without a listener ends the process.
    for await (const chunk of open()) {
      bytes += chunk.length
      yield chunk
    }
  }
  return { chunks: decompress(counted()), bytesRead: () => bytes, size }
}

/** Decompresses content that begins with gzip's magic number; passes everything else through. */
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
  // An error destroys gunzip, which makes the loop below throw it.
  pipeline(Readable.from(all()), gunzip, () => {})
  yield* gunzip as AsyncIterable<Buffer>
}
