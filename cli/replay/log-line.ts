/** A request as a line of an access log reports it. */
export interface LoggedRequest {
  method: string
  /** The request target as it was logged, with its query. */
  target: string
  status: number
  /** The user agent, empty if it sent none; `null` if the line does not say. */
  agent: string | null
  /** The day (UTC) of the request, such as `2026-11-20`; `null` if the line has no valid time. */
  day: string | null
  /** The part of the line up to the status. It stays the same while the server is still writing the rest of the line. */
  text: string
}

// The time, the request and the status of the common and combined formats, and the agent of the combined one. Inside the quotes,
// Apache and nginx write \", \\ and \xHH. Strangers control what is logged, so no part may match in two ways: a regular
// expression that backtracks could take hours for one line.
const COMMON = /^\S+ \S+ .*?\[([^[\]]*)\] "([^"\\]*(?:\\.[^"\\]*)*)" (\d{3})\b/s
const AGENT = /^ \S+ "[^"\\]*(?:\\.[^"\\]*)*" "([^"\\]*(?:\\.[^"\\]*)*)"/s

/**
 * Parses a line in common or combined log format, or a JSON object as nginx (`escape=json`), Caddy or Traefik writes it.
 *
 * @returns `null` if the line is not a request
 */
export function parseLogLine(written: string): LoggedRequest | null {
  // A byte order mark, also of a file that was appended.
  const line = written.replace(/^\ufeff+/, '')
  if (line.startsWith('{')) return parseJsonLine(line)
  const [text, time, request, status] = COMMON.exec(line) ?? []
  if (text === undefined) return null
  const agent = AGENT.exec(line.slice(text.length))?.[1] ?? null
  return parseRequest(unescapeText(request!), {
    status: Number(status),
    agent: agent === '-' ? '' : agent && unescapeText(agent),
    day: dayOf(time),
    text,
  })
}

function parseRequest(request: string, rest: Omit<LoggedRequest, 'method' | 'target'>): LoggedRequest | null {
  const [, method, words] = /^([\w-]+) (.+?)(?: HTTP\/[\d.]+)?$/s.exec(request) ?? []
  const target = words?.trim() ?? ''
  return method === undefined || target === '' ? null : { method, target, ...rest }
}

function parseJsonLine(line: string): LoggedRequest | null {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
  // Caddy has an object for the request, with a list for each header.
  const { request } = entry
  if (typeof request === 'object') Object.assign(entry, request)
  const headers = entry.headers as Record<string, unknown> | null | undefined
  const rest = {
    status: Number(entry.status ?? entry.DownstreamStatus ?? 200),
    agent: String(
      entry.http_user_agent ?? entry.user_agent ?? entry['request_User-Agent'] ?? headers?.['User-Agent'] ?? '',
    ),
    day: dayOf(
      entry.time_iso8601 ??
        entry.time_local ??
        entry.msec ??
        entry.ts ??
        entry.StartUTC ??
        entry.time ??
        entry.timestamp,
    ),
    text: line,
  }
  if (typeof request === 'string') return parseRequest(request, rest)
  const target = entry.request_uri ?? entry.uri ?? entry.RequestPath ?? entry.path
  if (typeof target !== 'string' || target === '') return null
  const method = String(entry.request_method ?? entry.method ?? entry.RequestMethod ?? 'GET')
  return { method, target, ...rest }
}

/** What Apache writes after a backslash instead of a control character. */
const CONTROLS: Record<string, string> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Decodes the escapes of a log. A text whose bytes are not UTF-8 stays as it is. */
function unescapeText(text: string): string {
  if (!text.includes('\\')) return text
  const percentEncoded = text
    .replaceAll('%', '%25')
    .replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, hex: string | undefined, character: string) =>
      hex === undefined ? (CONTROLS[character] ?? character) : `%${hex}`,
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

/** The day (UTC) of a time in Apache's format, in ISO 8601 with a zone, or since 1970 in seconds, ms, µs or ns. */
function dayOf(time: unknown): string | null {
  const text = String(time)
  const [, day, month, year, clock, hours, minutes] = LOCAL_TIME.exec(text) ?? []
  let date: Date
  if (month !== undefined) {
    const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
    date = new Date(`${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  } else if (/^\d{9,19}(\.\d+)?$/.test(text)) {
    const digits = text.split('.')[0]!.length
    date = new Date(Number(text) * 1_000 ** (1 - Math.floor((digits - 9) / 3)))
  } else if (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(text)) date = new Date(text)
  else return null
  return Number.isNaN(date.getTime()) || date.getTime() < 0 ? null : date.toISOString().slice(0, 10)
}
