import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { parseSvg } from '../../harness/svg.ts'
import { TestWorker } from '../../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

/** Part of everything hostile. It shows where hostile input is reflected. */
const MARK = 'q7zK'
const hostile = fc
  .constantFrom(
    '<script>alert(1)</script>',
    '"><svg onload="alert(1)',
    "' onload='alert(1)",
    '</title><script>',
    ']]><a/>',
    '<!DOCTYPE a [<!ENTITY b "c">]>',
    '&#0;&b;',
    'javascript:alert(1)',
    'url(#a);background:url(//evil.example)',
    '\r\nSet-Cookie: a=b',
    '\0\u0001\u001F\u007F\uFFFE',
    '../../..',
    '//evil.example/',
    "' OR 1=1 -- ",
    '__proto__',
    '\u202E\u2066',
    '{{7*7}}',
    'x'.repeat(700),
  )
  .map((text) => `${MARK}${text}`)
const anything = fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 90 }), fc.string({ maxLength: 20 }))
/** Encoded as it should be, as some clients do, and not at all. */
const written = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom(encodeURIComponent, encodeURI, escape, String)).map(([text, write]) => {
    try {
      return write(text)
    } catch {
      return '%ED%A0%80'
    }
  })

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('label', 'color', 'label_color', 'style', 'period', 'compact') },
  { weight: 1, arbitrary: written(anything) },
)
const value = fc.oneof(
  fc.constantFrom('red', 'fff', '%230f0', 'flat', 'for-the-badge', 'day', 'month', 'all', 'true', ''),
  written(anything),
)
const query = fc
  .array(fc.tuple(name, value), { maxLength: 4 })
  .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'))
const type = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('page_view', 'download') }, written(anything))
const path = fc
  .tuple(type, written(anything), fc.constantFrom('svg', 'json'), query)
  .map(([type, key, format, query]) => `/badge/${type}/${key}.${format}?${query}`)

const ELEMENTS = new Set(['svg', 'title', 'linearGradient', 'stop', 'mask', 'g', 'rect', 'text'])

it('For any input a badge is an image or JSON without a server error, and reflects nothing but the label', async () => {
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(path, async (path) => {
      const { pathname } = new URL(`http://counter.test${path}`)
      // Dots in a segment may lead to other routes.
      fc.pre(pathname.startsWith('/badge/'))
      const response = await worker.fetch(path)
      const body = await response.text()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      expect([200, 400, 404, 422]).toContain(response.status)
      for (const [name, value] of response.headers) expect(`${name}: ${value}`).not.toContain(MARK)
      const [, format] = /^\/badge\/(?!\/).*\.(svg|json)$/.exec(pathname) ?? []
      if (response.status !== 200) expect(body).not.toContain(MARK)
      if (format === 'svg') {
        expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
        const elements = parseSvg(body)
        expect(elements.filter(({ name }) => !ELEMENTS.has(name))).toEqual([])
        const attributes = elements.flatMap(({ attributes }) => Object.entries(attributes))
        expect(attributes.filter(([name]) => /^on|href|^style$/i.test(name))).toEqual([])
        expect(attributes.filter(([name, value]) => name !== 'aria-label' && value.includes(MARK))).toEqual([])
      } else if (format === 'json') {
        expect(response.headers.get('Content-Type')).toBe('application/json')
        const { label, ...rest } = JSON.parse(body) as Record<string, unknown>
        expect(label).toEqual(expect.any(String))
        expect(JSON.stringify(rest)).not.toContain(MARK)
      } else {
        expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      }
    }),
    { numRuns: 4_000 },
  )
  // Otherwise the inputs would not have covered all kinds of answers.
  for (const status of [200, 400, 404, 422]) expect(statuses.get(status)).toBeGreaterThan(50)
  for (const table of ['slotted_counters', 'counter_totals', 'counter_history', 'counter_names']) {
    expect(await db.number(`SELECT COUNT(*) FROM ${table}`)).toBe(0n)
  }
})
