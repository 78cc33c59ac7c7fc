import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAccessLog, parseLogLine } from '../../../../cli/replay/access-log.ts'

const MEBI = 1024 * 1024
const AGENT = '"https://example.com/?a=\\"b\\"" "Mozilla/5.0 (X11; \\"Linux\\") [en]"'

/** A line in combined format. */
const combined = (request: string, { host = '192.0.2.1', user = '-', status = '200' } = {}) =>
  `${host} - ${user} [20/Nov/2026:10:59:30 +0000] "${request}" ${status} 512 ${AGENT}`
const parsed = (line: string) => {
  const request = parseLogLine(line)
  return request && [request.method, request.target, request.status]
}

describe('A line of an access log', () => {
  it('may be in combined or in common format', () => {
    expect(parseLogLine(combined('GET /blog/hello HTTP/1.1'))).toEqual({
      method: 'GET',
      target: '/blog/hello',
      status: 200,
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
    ['29/Feb/2024:12:00:00 +0530', '2024-02-29'],
    ['31/Dec/1969:12:00:00 +0000', null],
    ['20/Nuv/2026:10:59:30 +0000', null],
    ['20/Nov/2026:25:59:30 +0000', null],
    ['x', null],
  ])('with the time %s is from the day %s in UTC', (time, day) => {
    expect(parseLogLine(`h - - [${time}] "GET / HTTP/1.1" 200 -`)?.day).toBe(day)
  })

  it.each([
    [{ time_iso8601: '2026-01-01T00:30:00+01:00' }, '2025-12-31'],
    [{ time_local: '01/Jan/2026:00:30:00 +0100' }, '2025-12-31'],
    [{ msec: '1767223800.123' }, '2025-12-31'],
    [{ time: 1_767_225_600 }, '2026-01-01'],
    [{ timestamp: '2026-01-01T00:00:00.000Z' }, '2026-01-01'],
    [{ time: 'yesterday' }, null],
    [{}, null],
  ])('in JSON with the time %j is from the day %s in UTC', (time, day) => {
    expect(parseLogLine(JSON.stringify({ request: 'GET / HTTP/1.1', status: 200, ...time }))?.day).toBe(day)
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
    ['GET /old', 'GET', '/old'],
    ['OPTIONS * HTTP/1.1', 'OPTIONS', '*'],
    ['GET http://example.com/a HTTP/1.1', 'GET', 'http://example.com/a'],
    ['PROPFIND /dav HTTP/3', 'PROPFIND', '/dav'],
    ['GET /größe/😀 HTTP/1.1', 'GET', '/größe/😀'],
    ['GET /line\u2028separator HTTP/1.1', 'GET', '/line\u2028separator'],
  ])('keeps the whole target of "%s"', (request, method, target) => {
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
        expect(parsed(combined(`GET /${escaped(text)} HTTP/1.1`))).toEqual(['GET', `/${text}`, 200])
      }),
    )
  })

  it.each([
    ['request', { request: 'GET /a?b HTTP/1.1', status: '304' }, ['GET', '/a?b', 304]],
    ['request_uri', { request_uri: '/a?b', request_method: 'HEAD', status: 200 }, ['HEAD', '/a?b', 200]],
    ['uri and request_method', { uri: '/a', request_method: 'POST', status: '201' }, ['POST', '/a', 201]],
    ['uri alone', { uri: '/a' }, ['GET', '/a', 200]],
    ['all of them', { request: 'GET /r HTTP/1.1', request_uri: '/u', uri: '/v', status: 200 }, ['GET', '/r', 200]],
    ['request_uri and uri', { request_uri: '/%C3%B6?q', uri: '/ö', status: 200 }, ['GET', '/%C3%B6?q', 200]],
    ['escapes', { request: 'GET /"\\\u0001ö😀 HTTP/1.1', status: 200 }, ['GET', '/"\\\u0001ö😀', 200]],
  ])('may be a JSON object with %s', (_, entry, expected) => {
    const line = JSON.stringify({ time: '2026-11-20T10:59:30+00:00', ...entry })
    expect(parsed(line)).toEqual(expected)
    expect(parseLogLine(line)?.text).toBe(line)
  })

  it.each([
    ['', 'empty'],
    [' ', 'blank'],
    ['-', 'a dash'],
    [combined('-', { status: '408' }), 'no request'],
    [combined('', { status: '400' }), 'an empty request'],
    [combined('\\x16\\x03\\x01\\x02\\x00\\x01', { status: '400' }), 'TLS sent to a plain port'],
    [combined('get / HTTP/1.1'), 'a method in lower case'],
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
    ['{}', 'JSON without a request'],
    ['{"request":"","status":"400"}', 'JSON with an empty request'],
    ['{"uri":5,"status":200}', 'JSON with another type'],
    ['{"uri":""}', 'JSON with an empty path'],
    ['[{"uri":"/"}]', 'a JSON list'],
    ['null', 'JSON null'],
  ])('is not a request if it is %j (%s)', (line) => {
    expect(parseLogLine(line)).toBeNull()
  })

  it('has its final meaning as soon as the status is complete', () => {
    const line = combined('GET /a\\"b HTTP/1.1', { host: '2001:db8::1', user: 'a [b] "c' })
    const finished = parseLogLine(line)
    const begun = Array.from({ length: line.length }, (_, i) => parseLogLine(line.slice(0, i)))
    const first = begun.findIndex((request) => request !== null)
    expect(first).toBe(line.indexOf(' 512'))
    expect(begun.slice(first)).toEqual(begun.slice(first).map(() => finished))
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
          const request = parseLogLine(line)
          if (request === null) return
          expect(request.method).toMatch(/^[A-Z]+$/)
          expect(request.target).not.toBe('')
          expect(line.startsWith(request.text)).toBe(true)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  it.each(['[', ']', '[]', '"', '\\"', '[x] "', '[x] "\\"', '[x] "GET /', '" 200', ' HTTP/1.1', 'a - ', '\\', '{'])(
    'is parsed quickly if it is a megabyte of %j',
    (text) => {
      const line = `192.0.2.1 - ${text.repeat(MEBI / text.length)}`
      const before = process.cpuUsage()
      parseLogLine(line)
      parseLogLine(combined(`GET ${line} HTTP/1.1`))
      parseLogLine(`${combined(`GET ${line} HTTP/1.1`, { status: '-' })}`)
      // Linear work takes milliseconds. Quadratic work would take hours. The time of the processor, which other processes do not
      // make longer.
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(10_000)
    },
  )
})

describe('An access log', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slotted-counter-log-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function read(content: string | Buffer): Promise<string[]> {
    const path = join(folder, 'access.log')
    await writeFile(path, content)
    const log = await openAccessLog(path)
    const lines = await Array.fromAsync(log.lines)
    expect(log.size).toBe(Buffer.byteLength(content))
    expect(log.bytesRead()).toBe(log.size)
    return lines
  }
  const both = async (content: string | Buffer) => {
    const lines = await read(content)
    expect(await read(gzipSync(content))).toEqual(lines)
    return lines
  }

  it('has lines that end with LF or CRLF; the last line may end with nothing, and lines may be empty', async () => {
    expect(await both('a\nb\n')).toEqual(['a', 'b'])
    expect(await both('a\r\nb\r\n')).toEqual(['a', 'b'])
    expect(await both('a\nb')).toEqual(['a', 'b'])
    expect(await both('a\r\nb\r')).toEqual(['a', 'b'])
    expect(await both('\n\na\n\r\n')).toEqual(['', '', 'a', ''])
    expect(await both('a\rb\n')).toEqual(['a\rb'])
  })

  it('may be empty', async () => {
    expect(await both('')).toEqual([])
    expect(await both('\n')).toEqual([''])
  })

  it('is read in pieces without breaking characters or lines', async () => {
    // Characters of up to four bytes, at another offset in every line: pieces end at every place within a character.
    const lines = Array.from({ length: 2_000 }, (_, i) => `${i}${'x'.repeat(i % 3)}${'€😀ö'.repeat(i % 100)}`)
    expect(await both(lines.join('\n'))).toEqual(lines)
    expect(await both(`${lines.join('\r\n')}\r\n`)).toEqual(lines)
  })

  it('may hold any text', async () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n]/g, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.constantFrom('\n', '\r\n'), async (lines, end) => {
        expect(await both(lines.map((text) => text + end).join(''))).toEqual(lines)
      }),
    )
  })

  it('is read even if it is not UTF-8', async () => {
    const lines = await both(Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x00, 0x80, 0x0a, 0x62, 0xe2, 0x82]))
    expect(lines).toEqual(['a\ufffd\ufffd', '\0\ufffd', 'b\ufffd'])
  })

  it('may be several gzip files in one, as log rotation appends them', async () => {
    expect(await read(Buffer.concat([gzipSync('a\nb'), gzipSync('c\nd\n')]))).toEqual(['a', 'bc', 'd'])
  })

  it('may have lines of any length, which are cut at the same place however they are read', async () => {
    const long = 'x'.repeat(2 * MEBI)
    const lines = await both(`a\n${long}\n${long.slice(0, MEBI)}\r\n${'y'.repeat(MEBI)}\rz\nb\n${long}`)
    expect(lines.map((line) => line.length)).toEqual([1, MEBI, MEBI, MEBI, 1, MEBI])
    expect(lines[3]).toBe('y'.repeat(MEBI))
  })

  it.each([10, 50, 1_000])('is an error if it is compressed and ends early, after %d bytes', async (length) => {
    const whole = gzipSync(Buffer.from(Array.from({ length: 5_000 }, () => Math.random() * 256)))
    await expect(read(whole.subarray(0, length))).rejects.toThrow('unexpected end of file')
  })

  it('is an error if it is compressed and damaged', async () => {
    const whole = gzipSync('a\n'.repeat(1_000))
    whole[whole.length - 6]! ^= 0xff
    await expect(read(whole)).rejects.toThrow('incorrect data check')
  })

  it('is an error if the file does not exist', async () => {
    await expect(openAccessLog(join(folder, 'missing'))).rejects.toThrow(/ENOENT/)
  })

  it('is an error that can be caught if the file cannot be opened', async () => {
    const socket = join(folder, 'socket')
    const server = createServer().listen(socket)
    await new Promise((listening) => server.once('listening', listening))
    const log = await openAccessLog(socket)
    // Gives an attempt to open it, if there were one, the time to fail.
    await writeFile(join(folder, 'other'), '')
    await expect(Array.fromAsync(log.lines)).rejects.toThrow(/ENXIO|EOPNOTSUPP/)
    await new Promise((closed) => server.close(closed))
  })

  it('may be read in part', async () => {
    for (const content of ['a\n'.repeat(200_000), gzipSync(Buffer.from('a\n'.repeat(200_000)))]) {
      const path = join(folder, 'left.log')
      await writeFile(path, content)
      const log = await openAccessLog(path)
      for await (const line of log.lines) {
        expect(line).toBe('a')
        break
      }
      expect(log.bytesRead()).toBeLessThanOrEqual(log.size!)
    }
  })
})
