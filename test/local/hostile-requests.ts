import { gzipSync } from 'node:zlib'
import type { Random } from '../harness/random.ts'
import type { RawRequest } from './raw-request.ts'

/** A path of the API document with its methods. */
export interface Path {
  /** With parameters in braces. */
  template: string
  methods: readonly string[]
}

/** Methods that workerd parses. It refuses all others itself. */
const METHODS = 'GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND PURGE SEARCH MOVE'.split(' ')

/** Keys that want to be more than text. */
const KEYS = [
  '=HYPERLINK("//evil.example")',
  '@SUM(1+1)*cmd|calc!A0',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "' OR 1=1 -- ",
  '1; DROP TABLE slotted_counters',
  '\0\u0001\u007F',
  '\u202Egnp.exe',
  '../../../../etc/passwd',
  '__proto__',
  'constructor',
  '{{7*7}}',
  '\r\nSet-Cookie: session=1',
  '%',
  '\uFFFF',
  'x'.repeat(5_000),
]
const TYPES = ['page_view', 'download', 'secret', '__proto__', 'toString', '', '%', 'PAGE_VIEW', 'page_view%00', '..']
/** Each with a slash first: workerd itself refuses others, and so does the platform. */
const PATH_TRICKS = [
  '//',
  '/..//../v1/status',
  '/%2e%2e/v1/status',
  '/v1%2Fstatus',
  '/v1/./status;a=b',
  '/\\v1\\status',
  '/V1/STATUS/',
  '/v1/status%00',
  '/%',
  '/%FF%FE',
  '/?%',
  `/${'a/'.repeat(2_000)}`,
  '/v1/counters/page_view/..%2f..%2fdownload/x',
  '//evil.example/v1/status',
]
const BODIES = [
  '{',
  '[]',
  'null',
  '"',
  '{"type":"page_view","key":',
  '{"type":{"$ne":1},"key":["a"],"by":-1}',
  '{"type":"page_view","key":"\\ud800","by":1e400}',
  '{"__proto__":{"by":1},"constructor":{"prototype":{}}}',
  '{"increments":{"length":1e9}}',
  '{"rows":[{"type":"page_view","key":"a","count":"9".repeat(99)}]}',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `{"by":${'9'.repeat(5_000)}}`,
  `{"increments":[${'{"type":"page_view","key":"a","by":1},'.repeat(1_500)}{}]}`,
  'type=page_view&key=%E0%A4%A&by=1',
  '\0\u0001\u0002',
]
const LENGTH_OF_A_HUGE_BODY = 2_000_000

/** Makes hostile requests of all kinds against all paths. None of them may count, change or read anything that is not public. */
export class HostileRequests {
  readonly #random: Random
  readonly #paths: readonly Path[]

  constructor(random: Random, paths: readonly Path[]) {
    this.#random = random
    this.#paths = paths
  }

  next(): RawRequest {
    const random = this.#random
    const make = random.pick([
      () => this.#request({}),
      () => this.#request({ method: random.pick(METHODS) }),
      () => this.#request({ target: random.pick(PATH_TRICKS) }),
      () => this.#request({ headers: this.#tricks() }),
      () => this.#request({ headers: this.#guess() }),
      () => this.#request({ query: this.#query(), headers: this.#guess() }),
      () => this.#withBody(random.pick(BODIES)),
      () => this.#withBody(random.pick(BODIES)),
      () => this.#malformed(),
      () => (random.chance(0.1) ? this.#huge() : this.#malformed()),
      () => (random.chance(0.1) ? { ...this.#request({}), isSlow: true } : this.#request({ query: this.#query() })),
    ])
    return make()
  }

  #path(): Path {
    return this.#random.pick(this.#paths)
  }

  #target(template: string): string {
    const fill = (name: string) => {
      if (name === 'type') return this.#random.pick(TYPES)
      const key = this.#random.pick(KEYS)
      return this.#random.chance(0.8) ? encodeURIComponent(key.toWellFormed()) : printable(key)
    }
    return template.replace(/\{(\w+)\}/g, (_, name: string) => fill(name))
  }

  #query(): string {
    const random = this.#random
    const name = () =>
      random.pick(['type', 'key', 'by', 'period', 'label', 'limit', 'from', 'to', 'after', 'tz', 'q', '__proto__'])
    const value = () =>
      random.pick([...KEYS, '-1', '1e999', 'NaN', '99999999999999999999', '2026-13-45', '%ED%A0%80', ''])
    const pairs = Array.from({ length: random.chance(0.05) ? 500 : random.between(1, 5) }, () => {
      const text = value().slice(0, 800)
      return `${name()}=${random.chance(0.8) ? encodeURIComponent(text) : printable(text)}`
    })
    return `?${pairs.join('&')}`
  }

  /** Tokens and sessions that are not valid. */
  #guess(): string[] {
    const random = this.#random
    const guess = random.fraction().toString(36).slice(2)
    return random.pick([
      [`Authorization: Bearer ${guess}`],
      [`Authorization: bearer  ${guess}  `],
      [`Authorization: Basic ${btoa(`owner:${guess}`)}`],
      ['Authorization: Bearer ', 'Authorization: Bearer a, Bearer b'],
      [`Authorization: Bearer ${'t'.repeat(8_000)}`],
      [`Cookie: session=${guess}.${Date.now() + 1e9}.${guess}`],
      [`Cookie: __Host-session=${guess}; session=${guess}; ${'c=1; '.repeat(200)}`],
      ['Authorization: Bearer undefined', 'Cookie: session=undefined'],
    ])
  }

  #tricks(): string[] {
    return this.#random.pick([
      ['X-HTTP-Method-Override: DELETE', 'X-Original-URL: /v1/rollup', 'X-Forwarded-Host: evil.example'],
      ['CF-Connecting-IP: ::ffff:999.1.1.1%eth0', 'X-Forwarded-For: 127.0.0.1', 'True-Client-IP: 127.0.0.1'],
      ['Range: bytes=0-,0-,0-,-1,9999999999999999999-', `If-Range: ${'"'.repeat(100)}`],
      [`If-None-Match: ${'W/"a",'.repeat(1_000)}`, 'If-Modified-Since: never'],
      ['Origin: null', 'Referer: javascript:alert(1)', 'Sec-Fetch-Site: same-origin'],
      ['Accept: */*;q=NaN', `Accept-Encoding: ${'gzip,'.repeat(500)}`, 'Accept-Language: \u00E9'],
      ['Idempotency-Key: ""', `Idempotency-Key: ${'k'.repeat(3_000)}`],
      [
        'Access-Control-Request-Method: DELETE',
        'Access-Control-Request-Headers: authorization',
        'Origin: https://evil.example',
      ],
      ['Purpose: prefetch', 'User-Agent: ', 'DNT: x'],
      Array.from({ length: 90 }, (_, i) => `X-${i}: ${'v'.repeat(80)}`),
      ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: AAAA', 'Sec-WebSocket-Version: 13'],
      ['Expect: 100-continue'],
    ])
  }

  #request(given: { method?: string; target?: string; query?: string; headers?: string[]; body?: Buffer }): RawRequest {
    const { template, methods } = this.#path()
    const { method = this.#random.pick(methods), target = this.#target(template), query = '', headers = [] } = given
    const { body = Buffer.alloc(0) } = given
    const lines = [`${method} ${target}${query} HTTP/1.1`, 'Host: counter.test', ...headers]
    if (method !== 'GET' && method !== 'HEAD') lines.push(`Content-Length: ${body.length}`)
    const sent = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : body
    return { bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent]) }
  }

  #withBody(body: string): RawRequest {
    const random = this.#random
    const type = random.pick([
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/x-ndjson',
      'a',
    ])
    const zipped = random.chance(0.1)
    const bytes = zipped ? gzipSync(body) : Buffer.from(body)
    const headers = [`Content-Type: ${type}`, ...(zipped ? ['Content-Encoding: gzip'] : []), ...this.#guess()]
    return this.#request({ method: random.pick(['POST', 'PUT', 'DELETE']), headers, body: bytes })
  }

  #malformed(): RawRequest {
    const bytes = this.#random.pick([
      'GET / HTTP/9.9\r\n\r\n',
      'GET\r\n\r\n',
      '\x16\x03\x01\x02\0\x01\0\x01\xFC\x03\x03',
      'GET / HTTP/1.1\r\nHost counter.test\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nA\0B: c\r\n\r\n',
      'POST /hit HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
      'POST /hit HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/status HTTP/1.1\r\n\r\n',
      'POST /hit HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
      'POST /hit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"type":',
      `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(140_000)}\r\n\r\n`,
      'GET /v1/status HTTP/1.1\nHost: a\nConnection: close\n\n',
    ])
    return { bytes: Buffer.from(bytes, 'latin1'), isCutShort: true }
  }

  #huge(): RawRequest {
    const body = Buffer.alloc(LENGTH_OF_A_HUGE_BODY, '{"increments":[')
    return this.#request({ method: 'POST', headers: ['Content-Type: application/json'], body })
  }
}

/** Without what would end the request line. */
function printable(text: string): string {
  return text.replace(/[\0-\x20\x7F-\uFFFF]/g, '')
}
