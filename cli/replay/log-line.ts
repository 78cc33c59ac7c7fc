/** A request as a line of an access log reports it. */
export interface LoggedRequest {
  method: string
  /** The request target as it was logged, with its query. */
  target: string
  status: number
  /** The user agent, empty if it sent none or JSON does not say it; `null` if a line of another format does not. */
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
/** Ends in a quotation that is not closed. */
const CUT = /^[^"]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"]*)*"[^"\\]*(?:\\.[^"\\]*)*\\?$/s

/** Why a line does not count. */
export interface Skip {
  skip: string
}
const NO_REQUEST: Skip = { skip: 'not a request line' }
export const UNFINISHED: Skip = { skip: 'unfinished line' }

/**
 * Parses a line in common or combined log format, or a JSON object as nginx (`escape=json`), Envoy, Kong, Traefik, Caddy or
 * Cloudflare Logpush writes it. What does not say its method and status is no request.
 */
export function parseLogLine(written: string): LoggedRequest | Skip {
  // A byte order mark, also of a file that was appended.
  const line = written.replace(/^\ufeff+/, '')
  if (line.startsWith('{')) return parseJsonLine(line)
  const [text, time, request, status] = COMMON.exec(line) ?? []
  if (text === undefined) return NO_REQUEST
  const rest = line.slice(text.length)
  const agent = AGENT.exec(rest)?.[1] ?? null
  // It may be a bot's.
  if (agent === null && CUT.test(rest)) return UNFINISHED
  return parseRequest(unescapeText(request!), {
    status: Number(status),
    agent: agent === '-' ? '' : agent && unescapeText(agent),
    day: dayOf(time),
    text,
  })
}

function parseRequest(request: string, rest: Omit<LoggedRequest, 'method' | 'target'>): LoggedRequest | Skip {
  const [, method, words] = /^([\w-]+) (.+?)(?: HTTP\/[\d.]+)?$/s.exec(request) ?? []
  const target = words?.trim() ?? ''
  return method === undefined || target === '' ? NO_REQUEST : { method, target, ...rest }
}

const names = (text: string) => text.split(/\s+/)
/** Members of JSON lines, named as by `membersOf`. The first one that a line has is taken. */
const MEMBERS = {
  request: names('request requestline'),
  status: names(
    'status httpstatus statuscode responsestatus responsecode responsestatuscode httpstatuscode downstreamstatus edgeresponsestatus',
  ),
  method: names('requestmethod method httpmethod httprequestmethod clientrequestmethod'),
  path: names('requesturi uri requestpath path clientrequesturi clientrequestpath requesturl url'),
  agent: names('httpuseragent useragent agent requestuseragent requestheadersuseragent clientrequestuseragent'),
  time: names('timeiso8601 timelocal msec ts startutc starttime startedat edgestarttimestamp time timestamp datetime'),
}

function parseJsonLine(line: string): LoggedRequest | Skip {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return NO_REQUEST
  }
  const members = membersOf(entry)
  // Caddy’s other lines repeat requests.
  if (/^http\.(?!log\.access\b)/.test(members.get('logger') ?? '')) return NO_REQUEST
  const find = (part: keyof typeof MEMBERS) =>
    MEMBERS[part].map((name) => members.get(name)).find((value) => value !== undefined)
  const missing = (part: string): Skip => ({ skip: `JSON without a known ${part}` })
  const [status = '', agent = ''] = [find('status'), find('agent')]
  if (!/^\d{1,3}$/.test(status)) return missing('status')
  const rest = { status: Number(status), agent: agent === '-' ? '' : agent, day: dayOf(find('time')), text: line }
  const request = find('request')
  if (request !== undefined) return parseRequest(request, rest)
  const [method, target] = [find('method'), find('path')]
  if (!method) return missing('method')
  return target ? { method, target, ...rest } : missing('path')
}

/** How deep members are read: Caddy has an object of headers in that of the request, and a list for each. */
const MAX_DEPTH = 3

/**
 * The texts and numbers in an object by their names, in small letters without separators: Kong’s `response.status` is
 * `responsestatus`, and so is `response_status`.
 */
function membersOf(value: unknown, name = '', depth = 0, found = new Map<string, string>()): Map<string, string> {
  const one: unknown = Array.isArray(value) ? value[0] : value
  if (typeof one === 'string' || typeof one === 'number') {
    if (!found.has(name)) found.set(name, String(one))
  } else if (typeof one === 'object' && one !== null && depth < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(one)) {
      membersOf(inner, name + key.toLowerCase().replace(/[^a-z\d]/g, ''), depth + 1, found)
    }
  }
  return found
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
  // A leap second is the second before.
  const text = String(time).replace(/(\d\d:\d\d):60(?!\d)/, '$1:59')
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
