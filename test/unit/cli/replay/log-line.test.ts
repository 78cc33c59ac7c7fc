import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseLogLine } from '../../../../cli/replay/log-line.ts'

const MEBI = 1024 * 1024
const AGENT = '"https://example.com/?a=\\"b\\"" "Mozilla/5.0 (X11; \\"Linux\\") [en]"'

/** A line in combined format. */
const combined = (request: string, { host = '192.0.2.1', user = '-', status = '200' } = {}) =>
  `${host} - ${user} [20/Nov/2026:10:59:30 +0000] "${request}" ${status} 512 ${AGENT}`
/** What a line says as a request; `null` if it is none. */
const requestOf = (line: string) => {
  const request = parseLogLine(line)
  return 'skip' in request ? null : request
}
const parsed = (line: string) => {
  const request = requestOf(line)
  return request && [request.method, request.target, request.status]
}

describe('A line of an access log', () => {
  it('may be in combined or in common format', () => {
    expect(parseLogLine(combined('GET /blog/hello HTTP/1.1'))).toEqual({
      method: 'GET',
      target: '/blog/hello',
      status: 200,
      agent: 'Mozilla/5.0 (X11; "Linux") [en]',
      day: '2026-11-20',
      text: '192.0.2.1 - - [20/Nov/2026:10:59:30 +0000] "GET /blog/hello HTTP/1.1" 200',
    })
    expect(parsed('127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326')).toEqual([
      'GET',
      '/apache_pb.gif',
      200,
    ])
    expect(parsed('h - - [x] "POST / HTTP/2.0" 404 -')).toEqual(['POST', '/', 404])
  })

  it.each([
    ['20/Nov/2026:10:59:30 +0000', '2026-11-20'],
    ['01/Jan/2026:00:59:59 +0100', '2025-12-31'],
    ['31/Dec/2025:19:00:00 -0500', '2026-01-01'],
    ['31/Dec/2016:23:59:60 +0000', '2016-12-31'],
    ['01/Jan/2017:00:59:60 +0100', '2016-12-31'],
    ['29/Feb/2024:12:00:00 +0530', '2024-02-29'],
    ['31/Dec/1969:12:00:00 +0000', null],
    ['20/Nuv/2026:10:59:30 +0000', null],
    ['20/Nov/2026:25:59:30 +0000', null],
    ['x', null],
  ])('with the time %s is from the day %s in UTC', (time, day) => {
    expect(requestOf(`h - - [${time}] "GET / HTTP/1.1" 200 -`)?.day).toBe(day)
  })

  it.each([
    ['GET / HTTP/1.1" 200 12 "-" "curl/8.5.0"', 'curl/8.5.0'],
    ['GET / HTTP/1.1" 200 12 "-" "-"', ''],
    ['GET / HTTP/1.1" 200 12 "-" ""', ''],
    ['GET / HTTP/1.1" 304 - "a \\"b\\" c" "caf\\xC3\\xA9 \\"1\\""', 'café "1"'],
    // Traefik appends fields, other servers too.
    ['GET / HTTP/1.1" 200 12 "-" "x/1" 1 "web@docker" "http://172.17.0.2:80" 3ms', 'x/1'],
    // The common format has none.
    ['GET / HTTP/1.1" 200 12', null],
    ['GET / HTTP/1.1" 200 12 "-"', null],
  ])('with %s is by the agent %j', (rest, agent) => {
    expect(requestOf(`192.0.2.1 - - [20/Nov/2026:10:59:30 +0000] "${rest}`)?.agent).toBe(agent)
  })

  it.each(['200 12 "-" "cut o', '200 12 "-" "', '200 12 "https://exa', '200 12 "a\\"b" "c\\', '304 - "-" "\\"'])(
    'that is cut in %s is unfinished: a bot may have sent it',
    (rest) => {
      const line = `192.0.2.1 - - [20/Nov/2026:10:59:30 +0000] "GET / HTTP/1.1" ${rest}`
      expect(parseLogLine(line)).toEqual({ skip: 'unfinished line' })
    },
  )

  it.each([
    [{ time_iso8601: '2026-01-01T00:30:00+01:00' }, '2025-12-31'],
    [{ time_local: '01/Jan/2026:00:30:00 +0100' }, '2025-12-31'],
    [{ time: '2016-12-31T23:59:60.25Z' }, '2016-12-31'],
    [{ msec: '1767223800.123' }, '2025-12-31'],
    [{ time: 1_767_225_600 }, '2026-01-01'],
    [{ ts: 1_767_225_599.999 }, '2025-12-31'],
    [{ ts: 1_767_225_599_999 }, '2025-12-31'],
    [{ ts: '1767225600000000000' }, '2026-01-01'],
    [{ StartUTC: '2025-12-31T23:59:59.123456789Z', time: '2026-01-01T00:59:59+01:00' }, '2025-12-31'],
    [{ '@timestamp': '2026-01-01T00:00:00.000Z' }, '2026-01-01'],
    [{ start_time: '2026-01-01T00:30:00+01:00' }, '2025-12-31'],
    [{ started_at: 1_767_225_599_999 }, '2025-12-31'],
    [{ EdgeStartTimestamp: 1_767_225_600_000_000_000 }, '2026-01-01'],
    [{ time: 'yesterday' }, null],
    [{}, null],
  ])('in JSON with the time %j is from the day %s in UTC', (time, day) => {
    expect(requestOf(JSON.stringify({ request: 'GET / HTTP/1.1', status: 200, ...time }))?.day).toBe(day)
  })

  it.each(['2001:db8::1', '::1', '::ffff:192.0.2.1', '[2001:db8::1]', 'fe80::1%eth0', 'host.example', '-'])(
    'may name the client %s',
    (host) => {
      expect(parsed(combined('GET / HTTP/1.1', { host }))).toEqual(['GET', '/', 200])
    },
  )

  it.each(['frank', 'Jane Q. Doe', 'a [b] c', '[', 'x] [y', 'jürgen', '"quoted"', '\u2028'])(
    'may name the user %j',
    (user) => {
      expect(parsed(combined('GET / HTTP/1.1', { user }))).toEqual(['GET', '/', 200])
    },
  )

  it('may begin with the virtual host', () => {
    expect(parsed(`www.example.com:443 ${combined('GET /a HTTP/1.1')}`)).toEqual(['GET', '/a', 200])
  })

  it.each([
    ['GET /a?b=c&d=%20#e HTTP/1.1', 'GET', '/a?b=c&d=%20#e'],
    ['GET /with space.html HTTP/1.1', 'GET', '/with space.html'],
    ['GET /a HTTP/1.1 HTTP/1.1', 'GET', '/a HTTP/1.1'],
    ['GET /', 'GET', '/'],
    ['GET  /a  HTTP/1.1', 'GET', '/a'],
    ['GET /a ', 'GET', '/a'],
    ['get / HTTP/1.1', 'get', '/'],
    ['M-SEARCH /a HTTP/1.1', 'M-SEARCH', '/a'],
    ['CONNECT example.com:443 HTTP/1.1', 'CONNECT', 'example.com:443'],
    ['GET /old', 'GET', '/old'],
    ['OPTIONS * HTTP/1.1', 'OPTIONS', '*'],
    ['GET http://example.com/a HTTP/1.1', 'GET', 'http://example.com/a'],
    ['PROPFIND /dav HTTP/3', 'PROPFIND', '/dav'],
    ['GET /größe/😀 HTTP/1.1', 'GET', '/größe/😀'],
    ['GET /line\u2028separator HTTP/1.1', 'GET', '/line\u2028separator'],
  ])('has the method and the whole target of "%s"', (request, method, target) => {
    expect(parsed(combined(request))).toEqual([method, target, 200])
  })

  it.each([
    ['/say-\\"hello\\"', '/say-"hello"'],
    ['/say-\\x22hello\\x22', '/say-"hello"'],
    ['/back\\\\slash', '/back\\slash'],
    ['/back\\x5cslash\\x5C', '/back\\slash\\'],
    ['/ends-with\\\\', '/ends-with\\'],
    ['/gr\\xC3\\xB6\\xc3\\x9fe', '/größe'],
    ['/\\xF0\\x9F\\x98\\x80', '/😀'],
    ['/tab\\there\\nand\\rthere\\v\\b.', '/tab\there\nand\rthere\v\b.'],
    ['/not\\\\a\\\\tab', '/not\\a\\tab'],
    ['/%C3%B6\\x22', '/%C3%B6"'],
    ['/100%\\x22', '/100%"'],
    ['/%zz\\"', '/%zz"'],
    // Not UTF-8, so unchanged.
    ['/\\xff', '/\\xff'],
    ['/\\xC3', '/\\xC3'],
  ])('has the escapes of %s decoded', (target, expected) => {
    expect(parsed(combined(`GET ${target} HTTP/1.1`))).toEqual(['GET', expected, 200])
  })

  it('has every text decoded that nginx escapes', () => {
    const escaped = (text: string) =>
      [...Buffer.from(text)]
        .map((byte) =>
          byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
            ? `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`
            : String.fromCharCode(byte),
        )
        .join('')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parsed(combined(`GET /${escaped(text)} HTTP/1.1`))).toEqual(['GET', `/${text}`.trimEnd(), 200])
      }),
    )
  })

  it.each<[string, object]>([
    ['GET /a?b 304', { request: 'GET /a?b HTTP/1.1', status: '304' }],
    ['HEAD /a?b 200', { request_uri: '/a?b', request_method: 'HEAD', status: 200 }],
    ['POST /a 201', { uri: '/a', request_method: 'POST', status: '201' }],
    ['GET /r 200', { request: 'GET /r HTTP/1.1', request_uri: '/u', uri: '/v', status: 200 }],
    ['GET /%C3%B6?q 200', { request_uri: '/%C3%B6?q', uri: '/ö', method: 'GET', status: 200 }],
    ['GET /"\\\u0001ö😀 200', { request: 'GET /"\\\u0001ö😀 HTTP/1.1', status: 200 }],
    ['PUT /a?b 201', { request: { method: 'PUT', uri: '/a?b', host: 'h' }, status: 201, logger: 'http.log.access.a' }],
    ['GET /a?b 503', { path: '/a?b', method: 'GET', response_code: 503, authority: 'h' }],
    ['GET /a 404', { request: { method: 'GET', uri: '/a', url: 'http://h/a' }, response: { status: 404 } }],
    ['GET /a?b 301', { ClientRequestMethod: 'GET', ClientRequestURI: '/a?b', EdgeResponseStatus: 301 }],
    ['GET /a 404', { request: 'GET /a HTTP/1.1', http_status: '404' }],
    ['GET https://h/a 200', { httpMethod: 'GET', url: 'https://h/a', statusCode: 200 }],
    ['HEAD /a?b 404', { RequestMethod: 'HEAD', RequestPath: '/a?b', DownstreamStatus: 404 }],
  ])('may be %s in JSON: %j', (expected, entry) => {
    const line = JSON.stringify({ time: '2026-11-20T10:59:30+00:00', ...entry })
    expect(parsed(line)?.join(' ')).toBe(expected)
    expect(requestOf(line)?.text).toBe(line)
  })

  it.each([
    ['', 'empty'],
    [' ', 'blank'],
    ['-', 'a dash'],
    [combined('-', { status: '408' }), 'no request'],
    [combined('', { status: '400' }), 'an empty request'],
    [combined('\\x16\\x03\\x01\\x02\\x00\\x01', { status: '400' }), 'TLS sent to a plain port'],
    [combined('GET'), 'a method alone'],
    [combined('GET / HTTP/1.1', { status: '-' }), 'no status'],
    [combined('GET / HTTP/1.1', { status: '20' }), 'half a status'],
    [combined('GET / HTTP/1.1', { status: '2000' }), 'more than a status'],
    ['192.0.2.1 - - [20/Nov/2026:10:59:30 +0000] "GET /a HTT', 'cut off in the request'],
    ['192.0.2.1 - - [20/Nov/2026:10', 'cut off in the time'],
    ['# Fields: date time cs-method', 'another format'],
    ['\u0000\ufffd\u0001\u001b[31m"\ufffd" 200', 'binary garbage'],
    ['{', 'cut off JSON'],
    ['{"request":"GET / HTTP/1.1","status":200', 'cut off JSON'],
    ['{"request":"","status":"400"}', 'JSON with an empty request'],
    ['[{"uri":"/"}]', 'a JSON list'],
    ['null', 'JSON null'],
    ['{"logger":"http.handlers.x","request":{"method":"GET","uri":"/"},"status":200}', 'a debug line of Caddy'],
    ['{"logger":"http.log.error","request":{"method":"GET","uri":"/"},"status":502}', 'an error line of Caddy'],
  ])('is not a request if it is %j (%s)', (line) => {
    expect(parseLogLine(line)).toEqual({ skip: 'not a request line' })
  })

  it.each([
    ['status', {}],
    ['status', { level: 30, time: 1_795_000_000_000, path: '/app', msg: 'reading file' }],
    ['status', { request: 'GET / HTTP/1.1', my_code: 200 }],
    ['status', { method: 'GET', uri: '/', status: 'ok' }],
    ['status', { request: null }],
    ['method', { uri: '/', status: 200 }],
    ['method', { request: { uri: '/' }, status: '200', verb: 'GET' }],
    ['path', { method: 'GET', status: 200, uri: '' }],
    ['path', { method: 'GET', status: 200, request: { headers: null } }],
  ])('in JSON without a known %s is not a request: %j', (missing, entry) => {
    expect(parseLogLine(JSON.stringify(entry))).toEqual({ skip: `JSON without a known ${missing}` })
  })

  it.each([
    { http_user_agent: 'a/1' },
    { agent: 'a/1' },
    { 'user-agent': 'a/1', agents: 'b' },
    { request: { headers: { Accept: ['*/*'], 'User-Agent': ['a/1'] } } },
    { request: { headers: { 'user-agent': 'a/1' } }, headers: { 'User-Agent': ['of the response'] } },
    { 'request_User-Agent': 'a/1' },
    { ClientRequestUserAgent: 'a/1' },
  ])('in JSON is by the agent in %j', (members) => {
    expect(requestOf(JSON.stringify({ uri: '/', method: 'GET', status: 200, ...members }))?.agent).toBe('a/1')
  })

  it('in JSON may have no agent', () => {
    const agentOf = (members: object) =>
      requestOf(JSON.stringify({ request: 'GET / HTTP/1.1', status: 200, ...members }))?.agent
    expect([agentOf({ user_agent: '' }), agentOf({ agent: '-' }), agentOf({ headers: null })]).toEqual(['', '', ''])
  })

  it('may follow a byte order mark', () => {
    for (const line of [combined('GET /a HTTP/1.1'), '{"request":"GET /a","status":200}']) {
      expect(parseLogLine(`\ufeff${line}`)).toEqual(parseLogLine(line))
    }
  })

  it('has its request, and the text that identifies it, as soon as the status is complete', () => {
    const line = combined('GET /a\\"b HTTP/1.1', { host: '2001:db8::1', user: 'a [b] "c' })
    const finished = parseLogLine(line)
    const begun = Array.from({ length: line.length }, (_, i) => parseLogLine(line.slice(0, i)))
    const first = begun.findIndex((request) => !('skip' in request))
    expect(first).toBe(line.indexOf(' 512'))
    for (const request of begun.slice(first)) {
      expect([{ ...finished, agent: null }, { skip: 'unfinished line' }]).toContainEqual(request)
    }
  })

  it('may hold anything', () => {
    const piece = fc.constantFrom('a - - ', '[x] ', '"GET ', '/a', '\\', '"', '] ', '[', ' 200', '\\x', '{', '\0')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map((pieces) => pieces.join('')),
        ),
        (line) => {
          const request = requestOf(line)
          if (request === null) return
          expect(request.method).toMatch(/^[\w-]+$/)
          expect(request.target).not.toBe('')
          expect(line.replace(/^\ufeff+/, '').startsWith(request.text)).toBe(true)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  it.each([
    '[',
    ']',
    '[]',
    '"',
    '\\"',
    '[x] "',
    '[x] "\\"',
    '[x] "GET /',
    '" 200',
    ' HTTP/1.1',
    'a - ',
    '\\',
    '{',
    ' ',
    '" "',
  ])('is parsed quickly if it is a megabyte of %j', (text) => {
    const line = `192.0.2.1 - ${text.repeat(MEBI / text.length)}`
    const before = process.cpuUsage()
    parseLogLine(line)
    parseLogLine('\ufeff'.repeat(MEBI) + line)
    parseLogLine(combined(`GET ${line} HTTP/1.1`))
    parseLogLine(`${combined(`GET ${line} HTTP/1.1`, { status: '-' })}`)
    parseLogLine(`h - - [x] "GET / HTTP/1.1" 200 ${line}`)
    // Linear work takes milliseconds. Quadratic work would take hours. The time of the processor, which other processes do not
    // make longer.
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(10_000)
  })
})
