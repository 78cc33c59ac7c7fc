import { StringDecoder } from 'node:string_decoder'
import { openInputFile } from './input-file.ts'

/** What one line of an access log says of a request, as far as counting needs it. */
export interface LoggedRequest {
  method: string
  /** The request target as it was logged, query and all. */
  target: string
  status: number
  /** The day in which it was made, UTC, such as `2026-11-20`; `null` if the line does not say when. */
  day: string | null
  /** The part of the line that says so. A server that has not finished the line yet does not change it any more. */
  text: string
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
  const { chunks, bytesRead, size } = await openInputFile(path)
  return { lines: splitLines(chunks), bytesRead, size }
}

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    // One more than is looked at, for the CR.
    rest = lines.pop()!.slice(0, MAX_LINE_CHARACTERS + 1)
    for (const line of lines) yield lookedAt(line)
  }
  rest += decoder.end()
  if (rest !== '') yield lookedAt(rest)
}

/** A line without its CR and without what is too much, whatever pieces it was read in: the line is part of a key. */
function lookedAt(line: string): string {
  return (line.endsWith('\r') ? line.slice(0, -1) : line).slice(0, MAX_LINE_CHARACTERS)
}

// The request and the status of the common and the combined format; what follows does not matter here. Inside the quotes,
// Apache and nginx write \" and \\ and \xHH. Nothing in it can be matched in two ways, for strangers write what is logged.
const COMBINED = /^\S+ \S+ .*?\[([^[\]]*)\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3})\b/s

/**
 * Reads one line: combined (or common) log format, or a JSON object as nginx writes it with `escape=json`, with `request`,
 * or `request_uri` or `uri`, and if possible `request_method` and `status`.
 *
 * @returns `null` if the line is no request
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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
// 20/Nov/2026:10:00:00 +0100, as Apache and nginx write it.
const LOCAL_TIME = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/

/** The day (UTC) of a time as logs write it: as Apache does, as ISO 8601 with a zone, or in seconds since 1970. */
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
