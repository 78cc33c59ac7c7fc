import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'

/** What one line of an access log says of a request, as far as counting needs it. */
export interface LoggedRequest {
  method: string
  /** The request target as it was logged, query and all. */
  target: string
  status: number
}

/** An access log to read. */
export interface AccessLog {
  /** Its lines, decompressed. */
  lines: AsyncIterable<string>
  /** Bytes read so far, before decompression. */
  bytesRead: () => number
  /** Its size in bytes; `null` if it cannot be known. */
  size: number | null
}

/** Longest line that is looked at; a longer one is no request that a server took. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/**
 * Opens a log, plain or compressed with gzip.
 *
 * @param path a file, or `-` for standard input
 * @throws {Error} if it cannot be read
 */
export async function openAccessLog(path: string): Promise<AccessLog> {
  const size = path === '-' ? null : (await stat(path)).size
  const source = path === '-' ? process.stdin : createReadStream(path)
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length
      yield chunk
    }
  }
  return { lines: splitLines(decompress(counted())), bytesRead: () => bytes, size }
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

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop()!.slice(0, MAX_LINE_CHARACTERS)
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
  }
  rest += decoder.end()
  if (rest !== '') yield rest
}

// The request and the status of the common and the combined format; what follows does not matter here. Inside the quotes,
// Apache and nginx write \" and \\ and \xHH.
const COMBINED = /^\S+ \S+ .*?\[[^\]]*\] "((?:[^"\\]|\\.)*)" (\d{3})\b/

/**
 * Reads one line: combined (or common) log format, or a JSON object as nginx writes it with `escape=json`, with `request`,
 * or `request_uri` or `uri`, and if possible `request_method` and `status`.
 *
 * @returns `null` if the line is no request
 */
export function parseLogLine(line: string): LoggedRequest | null {
  if (line.startsWith('{')) return parseJsonLine(line)
  const match = COMBINED.exec(line)
  return match === null ? null : parseRequest(unescapeText(match[1]!), Number(match[2]))
}

function parseRequest(request: string, status: number): LoggedRequest | null {
  const match = /^([A-Z]+) (.+?)(?: HTTP\/[\d.]+)?$/.exec(request)
  return match === null ? null : { method: match[1]!, target: match[2]!, status }
}

function parseJsonLine(line: string): LoggedRequest | null {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
  const status = Number(entry.status ?? 200)
  if (typeof entry.request === 'string') return parseRequest(entry.request, status)
  const target = entry.request_uri ?? entry.uri ?? entry.path
  if (typeof target !== 'string' || target === '') return null
  return { method: String(entry.request_method ?? entry.method ?? 'GET'), target, status }
}

/** Takes back the escapes of a log; the text stays as it is where they do not make UTF-8. */
function unescapeText(text: string): string {
  if (!text.includes('\\')) return text
  const percentEncoded = text
    .replaceAll('%', '%25')
    .replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, hex: string | undefined, character: string) =>
      hex === undefined ? character : `%${hex}`,
    )
  try {
    return decodeURIComponent(percentEncoded)
  } catch {
    return text
  }
}
