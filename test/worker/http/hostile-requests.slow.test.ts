import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { parseSvg } from '../../harness/svg.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'

const BASE = 'https://files.example.com/dist/'
const SETTINGS = {
  COUNTERS: {
    page: { record_type: 1, public: true, allowed_origins: ['*'], dedupe_seconds: 60, counting_badge: true },
    mine: { record_type: 2, public: true, allowed_origins: ['https://example.com'], respect_do_not_track: true },
    file: { record_type: 3, public: true, redirect_to: BASE, count_bots: true },
    number: { record_type: 4, public: true, allowed_origins: ['*'], redirect_to: '/files/' },
    hidden: { record_type: 5 },
  },
}
const RECORD_TYPES = new Set([1, 2, 3, 4])
const REQUESTS = 20_000
const AT_ONCE = 20

const { db, worker } = sharedWorker(SETTINGS)

/** Part of what is sent. It must not appear in any page, image, error or header that comes back. */
const MARK = '<zq>'

const hostile = fc.constantFrom(
  '',
  ' ',
  '\t',
  ...String.raw`. .. / // \ % %zz %00 %0d%0aX-Evil:1 %c0%af %ff %2e%2e%2f %252e %EF%BF%BE`.split(' '),
  ...'__proto__ constructor toString null undefined NaN -1 0 007 1e9 18446744073709551615 18446744073709551616'.split(
    ' ',
  ),
  ...`true [] {} a=b&c ? # ; : @ + {{7*7}} 😀 é ${MARK} ${MARK}<script>alert(1)</script> "${MARK} ']${MARK}`.split(' '),
  ...'https://evil.example/ //evil.example javascript:alert(1) data:text/html,x'.split(' '),
  "' OR 1=1 --",
  '"; DROP TABLE x; --',
  '\u202e',
  '\ud800',
  'x'.repeat(600),
  'é'.repeat(300),
)
const text = fc.oneof(
  { weight: 3, arbitrary: hostile },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.array(hostile, { maxLength: 4 }).map((parts) => parts.join('')) },
  { weight: 2, arbitrary: fc.constantFrom('a', '/blog/hello', 'app.zip', '42') },
)
const encode = (value: string) => encodeURIComponent(value.toWellFormed())
/** Raw, or encoded as it should be. */
const inUrl = fc.tuple(text, fc.boolean()).map(([value, encoded]) => (encoded ? encode(value) : value))
const type = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...Object.keys(SETTINGS.COUNTERS)) }, inUrl)
const query = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('type', 'key', 'label', 'color', 'style', 'period', 'from', 'return', 'automated'),
        inUrl,
      ),
      inUrl,
    ),
    { maxLength: 4 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))
const rangeQuery = fc
  .array(
    fc.tuple(
      fc.constantFrom('by', 'from', 'to', 'tz', 'period', 'date', 'limit', 'prefix', 'after'),
      fc.oneof(
        fc.constantFrom(
          ...'day hour month Europe/Berlin 2026-11-01 2026-11-01T00:00:00Z 0000-01-01 9999-12-31 7'.split(' '),
        ),
        inUrl,
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))
const known = fc.tuple(type, inUrl).map(([type, key]) => `type=${type}&key=${key}`)
const path = fc.oneof(
  fc.tuple(fc.constantFrom('/hit', '/hit.gif'), fc.oneof(known, query)).map(([path, query]) => `${path}?${query}`),
  fc.tuple(type, fc.array(inUrl, { minLength: 1, maxLength: 3 })).map(([type, keys]) => `/d/${type}/${keys.join('/')}`),
  fc
    .tuple(type, inUrl, fc.constantFrom('.svg', '.json', '', '.SVG'), query)
    .map(([type, key, suffix, query]) => `/badge/${type}/${key}${suffix}?${query}`),
  fc.tuple(type, inUrl, query).map(([type, key, query]) => `/v1/counters/${type}/${key}?${query}`),
  fc.tuple(type, query).map(([type, query]) => `/v1/counters/${type}?${query}`),
  fc.tuple(type, inUrl, rangeQuery).map(([type, key, query]) => `/v1/counters/${type}/${key}/history?${query}`),
  fc
    .tuple(fc.constantFrom('top', 'types', 'search'), type, rangeQuery)
    .map(([what, type, query]) => `/v1/${what}/${type}${what === 'types' ? '/history' : ''}?${query}`),
  fc
    .tuple(fc.constantFrom('/slotted-9.9.9.js', '/docs', '/healthz', '/'), query)
    .map(([path, query]) => `${path}?${query}`),
  inUrl.map((rest) => `/${rest}`),
)
const json = fc.oneof(
  fc.record({ type, key: fc.oneof(text, fc.integer(), fc.double(), fc.constant(null)) }, { requiredKeys: [] }),
  fc.anything({ maxDepth: 2 }),
)
const body = fc.oneof(
  fc.constant(undefined),
  json.map((value) => {
    try {
      return JSON.stringify(value)
    } catch {
      return '{"type":'
    }
  }),
  text,
)
const headers = fc.dictionary(
  fc.constantFrom(
    ...'Content-Type Origin Referer User-Agent Range CF-Connecting-IP DNT If-None-Match Accept'.split(' '),
  ),
  fc.oneof(
    fc.constantFrom(
      ...'application/json text/plain null https://example.com bytes=0- bytes=9- 203.0.113.9 1 *'.split(' '),
    ),
    fc.stringMatching(/^[\x21-\x7e]{0,20}$/),
  ),
  { maxKeys: 4 },
)
const method = fc.constantFrom('GET', 'GET', 'POST', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH')

type Sent = [method: string, path: string, headers: Record<string, string>, body: string | undefined]

/** Requests with the right method and path, of which often only one thing is wrong. */
const aimed = fc
  .tuple(fc.constantFrom(...Object.keys(SETTINGS.COUNTERS)), fc.oneof(fc.constantFrom('a', '/b', '7'), text), headers)
  .chain(([type, key, headers]) =>
    fc.constantFrom<Sent>(
      ['POST', '/hit', { ...headers, 'Content-Type': 'text/plain' }, JSON.stringify({ type, key })],
      ['POST', `/hit?type=${type}&key=${encode(key)}`, headers, undefined],
      ['GET', `/hit.gif?type=${type}&key=${encode(key)}`, headers, undefined],
      ['GET', `/d/${type}/${encode(key)}`, headers, undefined],
      ['GET', `/badge/${type}/${encode(key)}.svg?label=${encode(key)}`, headers, undefined],
      ['GET', `/badge/${type}/${encode(key)}.json?label=${encode(key)}`, headers, undefined],
      ['GET', `/badge/${type}/${key}.svg?label=${key}%ff`, headers, undefined],
      ['GET', `/hit/${type}/${encode(key)}.svg?label=${encode(key)}`, headers, undefined],
      ['GET', `/v1/counters/${type}/${encode(key)}`, headers, undefined],
    ),
  )
const request: fc.Arbitrary<Sent> = fc.oneof(fc.tuple(method, path, headers, body), aimed)

let sent = 0
let counted = 0
/** How many badges had each status. */
const badges = new Map<number, number>()

async function send(method: string, path: string, headers: Record<string, string>, body: string | undefined) {
  let url: URL
  try {
    url = new URL(`https://counter.test${path}`)
  } catch {
    // No client can send this.
    return
  }
  if (url.host !== 'counter.test') return
  sent++
  const takesBody = method !== 'GET' && method !== 'HEAD' && body !== undefined
  const response = await worker.fetch(url.href.slice('https://counter.test'.length), {
    method,
    headers,
    ...(takesBody && { body: body.toWellFormed() }),
  })
  const text = new TextDecoder().decode(await response.arrayBuffer())
  const answer = { method, path, status: response.status, headers: Object.fromEntries(response.headers), text }
  if (response.headers.get('X-Hit') === 'counted') counted++
  // Refusing is fine. Failing is not. Here, nothing rolls up.
  if (response.status >= 500 && !text.includes('"rollup_missing"')) throw new Error(`a 5xx: ${JSON.stringify(answer)}`)
  const contentType = response.headers.get('Content-Type') ?? ''
  if (contentType !== 'application/json' && text.includes(MARK)) throw new Error(`reflected: ${JSON.stringify(answer)}`)
  if (/html/.test(contentType) && response.status >= 400)
    throw new Error(`a page for an error: ${JSON.stringify(answer)}`)
  const location = response.headers.get('Location')
  if (location !== null && !location.startsWith(BASE) && !/^\/files\/[^/\\]/.test(location)) {
    throw new Error(`sent elsewhere: ${JSON.stringify(answer)}`)
  }
  for (const [name, value] of response.headers) expect(`${name}: ${value}`).not.toContain(MARK)
  if (url.pathname.startsWith('/badge/')) expectHarmlessBadge(answer.status, contentType, text)
  if (response.headers.has('X-Evil')) throw new Error(`a header of the visitor's: ${JSON.stringify(answer)}`)
}

const ELEMENTS = 'svg title filter feGaussianBlur linearGradient stop clipPath g rect text'.split(' ')

/** A badge is an image that runs and loads nothing, or JSON that repeats nothing but the label. */
function expectHarmlessBadge(status: number, contentType: string, text: string): void {
  if (contentType === 'image/svg+xml; charset=utf-8' && text !== '') {
    const elements = parseSvg(text)
    expect(elements.filter(({ name }) => !ELEMENTS.includes(name))).toEqual([])
    const attributes = elements.flatMap(({ attributes }) => Object.entries(attributes))
    expect(attributes.filter(([name]) => /^on|href|^style$/i.test(name))).toEqual([])
    const own = attributes.filter(([name]) => name !== 'aria-label').map(([, value]) => value)
    expect(own.filter((value) => value.includes(MARK) || /url\((?!#)/.test(value))).toEqual([])
  } else if (contentType === 'application/json' && text !== '') {
    const { label, ...rest } = JSON.parse(text) as Record<string, unknown>
    expect(label).toEqual(expect.any(String))
    expect(JSON.stringify(rest)).not.toContain(MARK)
  } else if (text !== '') {
    expect(contentType).toBe('application/problem+json')
  }
  badges.set(status, (badges.get(status) ?? 0) + 1)
}

it(`${REQUESTS} hostile requests cause no server error, no foreign redirect and no invalid row`, {
  timeout: 600_000,
}, async () => {
  // That the machine stalls is no failure of the Worker's.
  bePatient()
  // Healthy from here on, for longer than this takes.
  expect((await worker.api('POST', '/v1/rollup')).status).toBe(200)
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
      await Promise.all(requests.map((request) => send(...request)))
    }),
    { numRuns: REQUESTS / AT_ONCE, endOnFailure: true },
  )
  expect(sent).toBeGreaterThan(0.95 * REQUESTS)
  expect(counted).toBeGreaterThan(1_000)
  for (const status of [200, 400, 404, 422]) expect(badges.get(status)).toBeGreaterThan(50)
  const { rows } = await db.execute(
    `SELECT record_type, record_id, CAST(SUM(s.count) AS CHAR) AS count, MIN(s.count) AS least, CAST(MAX(name) AS CHAR) AS name
     FROM slotted_counters AS s LEFT JOIN counters USING (record_type, record_id) GROUP BY record_type, record_id`,
  )
  let sum = 0
  for (const { record_type, record_id, count, least, name } of rows) {
    sum += Number(count)
    const recordType = Number(record_type)
    const recordId = BigInt(String(record_id))
    expect(RECORD_TYPES).toContain(recordType)
    expect(Number(least)).toBeGreaterThan(0)
    // The name is a valid key, and the row is that of its counter.
    const counter = await addressOfKey({ recordType }, String(name))
    expect(counter.recordId).toBe(recordId)
  }
  // Visits of one visitor that arrive at the same time may all be answered "counted", and count once.
  expect(sum).toBeLessThanOrEqual(counted)
  expect(sum).toBeGreaterThan(0)
})
