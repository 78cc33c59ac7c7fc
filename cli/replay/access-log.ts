import { StringDecoder } from 'node:string_decoder'
import { openInputFile } from '../input-file.ts'
import { splitLines } from '../lines.ts'

/** A request as a line of an access log reports it. */
export interface LoggedRequest {
  method: string
  /** The request target as it was logged, with its query. */
  target: string
  status: number
  /** The day (UTC) of the request, such as `2026-11-20`; `null` if the line has no valid time. */
  day: string | null
  /** The part of the line that holds all this. It stays the same while the server is still writing the rest of the line. */
  text: string
}

/** An access log to read. */
export interface AccessLog {
  /** Its lines, decompressed. */
  lines: AsyncIterable<string>
  /** Bytes read so far, before decompression. */
  bytesRead: () => number
  /** Its size in bytes before decompression; `null` for standard input. */
  size: number | null
}

/** Longer lines are cut: no server accepts such a request. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/**
 * Opens a log, plain or compressed with gzip.
 *
 * @param path a file, or `-` for standard input
 * @throws {Error} if there is no such file
 */
export async function openAccessLog(path: string): Promise<AccessLog> {
  const { chunks, bytesRead, size } = await openInputFile(path)
  return { lines: splitLines(decode(chunks), MAX_LINE_CHARACTERS), bytesRead, size }
}

async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}

// The time, the request and the status of the common and combined formats; the rest of a line is not used. Inside the quotes,
// Apache and nginx write \", \\ and \xHH. Strangers control what is logged, so no part may match in two ways: a regular
// expression that backtracks could take hours for one line.
const COMBINED = /^\S+ \S+ .*?\[([^[\]]*)\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3})\b/s

/**
 * Parses a line in common or combined log format, or a JSON object as nginx writes it with `escape=json`. The object needs
 * `request`, `request_uri` or `uri`, and may have `request_method`, `status` and a time.
 *
 * @returns `null` if the line is not a request
 */
export function parseLogLine(line: string): LoggedRequest | null {
  if (line.startsWith('{')) return parseJsonLine(line)
  const match = COMBINED.exec(line)
  return match === null ? null : parseRequest(unescapeText(match[2]!), Number(match[3]), dayOf(match[1]!), match[0])
}

function parseRequest(request: string, status: number, day: string | null, text: string): LoggedRequest | null {
  const match = /^([A-Z]+) (.+?)(?: HTTP\/[\d.]+)?$/s.exec(request)
  return match === null ? null : { method: match[1]!, target: match[2]!, status, day, text }
}

function parseJsonLine(line: string): LoggedRequest | null {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
  const status = Number(entry.status ?? 200)
  const day = dayOf(entry.time_iso8601 ?? entry.time_local ?? entry.msec ?? entry.time ?? entry.timestamp)
  if (typeof entry.request === 'string') return parseRequest(entry.request, status, day, line)
  const target = entry.request_uri ?? entry.uri ?? entry.path
  if (typeof target !== 'string' || target === '') return null
  return { method: String(entry.request_method ?? entry.method ?? 'GET'), target, status, day, text: line }
}

/** Decodes the escapes of a log. A text whose bytes are not UTF-8 stays as it is. */
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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
// 20/Nov/2026:10:00:00 +0100, as Apache and nginx write it.
const LOCAL_TIME = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/

/** The day (UTC) of a time in Apache's format, in ISO 8601 with a zone, or in seconds since 1970. */
function dayOf(time: unknown): string | null {
  const text = String(time)
  const [, day, month, year, clock, hours, minutes] = LOCAL_TIME.exec(text) ?? []
  let date: Date
  if (month !== undefined) {
    const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
    date = new Date(`${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  } else if (/^\d{9,10}(\.\d+)?$/.test(text)) date = new Date(Number(text) * 1_000)
  else if (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(text)) date = new Date(text)
  else return null
  return Number.isNaN(date.getTime()) || date.getTime() < 0 ? null : date.toISOString().slice(0, 10)
}
