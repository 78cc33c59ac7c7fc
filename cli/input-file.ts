import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RefusedError } from './retried.ts'

/** A file to read. */
export interface InputFile {
  /** The content, decompressed and in UTF-8 if it was in UTF-16. Reading it throws a `RefusedError` if it is packed otherwise. */
  chunks: AsyncGenerator<Buffer>
  /** Bytes read so far, before decompression. */
  bytesRead: () => number
  /** Its size in bytes before decompression; `null` for standard input. */
  size: number | null
}

/** Opens a file, plain or compressed with gzip, or for `-` standard input. @throws {Error} if there is no such file */
export async function openInputFile(path: string): Promise<InputFile> {
  const size = path === '-' ? null : (await stat(path)).size
  return inputFile(() => bytesOf(path), size)
}

/**
 * Opens a file as often as it is wanted. What can be read only once, such as standard input, is copied into a file that the
 * system removes when the process ends.
 * @throws {Error} if there is no such file
 */
export async function openAgain(path: string): Promise<() => InputFile> {
  const about = path === '-' ? null : await stat(path)
  if (about?.isFile()) return () => inputFile(() => bytesOf(path), about.size)
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  const copy = await open(join(folder, 'input'), 'wx+', 0o600)
  await rm(folder, { recursive: true })
  await copy.writeFile(bytesOf(path))
  return () => inputFile(() => copy.createReadStream({ start: 0, autoClose: false }), null)
}

function bytesOf(path: string): AsyncIterable<Buffer> {
  return path === '-' ? process.stdin : createReadStream(path)
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
  return { chunks: decoded(decompress(counted())), bytesRead: () => bytes, size }
}

/** Reads the beginning of content, without taking it away: as much as tells what it is. */
async function beginningOf(chunks: AsyncGenerator<Buffer>) {
  let beginning = Buffer.alloc(0)
  while (beginning.length < 512) {
    const next = await chunks.next()
    if (next.done) break
    beginning = Buffer.concat([beginning, next.value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield beginning
    yield* chunks
  }
  return { bytes: beginning.toString('hex'), all: all() }
}

/** Decompresses content that begins with gzip's magic number; passes everything else through. */
async function* decompress(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { bytes, all } = await beginningOf(chunks)
  if (!bytes.startsWith('1f8b')) return yield* all
  const gunzip = createGunzip()
  // An error destroys gunzip, which makes the loop below throw it.
  pipeline(Readable.from(all), gunzip, () => {})
  yield* gunzip as AsyncIterable<Buffer>
}

/** How files begin, in hexadecimal digits, that hold text in a form which is not read, and what unpacks them. */
const PACKED: readonly [beginning: RegExp, name: string, program: string][] = [
  [/^504b0[35]0[46]/, 'zip', 'unzip -p'],
  [/^fd377a585a/, 'xz', 'xz -dc'],
  [/^28b52ffd/, 'zst', 'zstd -dc'],
  [/^425a683[1-9](?:314159265359|177245385090)/, 'bz2', 'bzip2 -dc'],
  [/^377abcaf/, '7z', '7z e -so'],
  [/^.{514}7573746172/, 'tar', 'tar -xOf'],
]
/** Text in UTF-16, with a byte order mark or without one. */
const UTF_16 = { 'utf-16le': /^(?:fffe|(?!00)..00(?!00)..00)/, 'utf-16be': /^(?:feff|00(?!00)..00(?!00)..)/ }

/** Decodes UTF-16. @throws {RefusedError} if the content is no text */
async function* decoded(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { bytes, all } = await beginningOf(chunks)
  const [, name, program] = PACKED.find(([beginning]) => beginning.test(bytes)) ?? []
  if (name !== undefined) throw new RefusedError(`the file is ${name}, not text; unpack it first: ${program} FILE`)
  const [encoding] = Object.entries(UTF_16).find(([, beginning]) => beginning.test(bytes)) ?? []
  if (encoding === undefined) return yield* all
  const decoder = new TextDecoder(encoding)
  for await (const chunk of all) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  yield Buffer.from(decoder.decode())
}
