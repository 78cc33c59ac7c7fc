import { beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, prefixes: ['/blog/', '/caf\u00e9/'] },
    number: { record_type: 2, public: true },
    secret: { record_type: 3, prefixes: ['/'] },
  },
})
beforeAll(async () => {
  await worker.add('page_view', { '/blog/a': 3, '/caf\u00e9/b': 4, '/none': 5 })
  await worker.add('number', { '42': 6 })
  await worker.add('secret', { '/a': 7 })
})

const ask = (of: string[], from = worker) =>
  from.fetch(`/v1/shown?${new URLSearchParams(of.map((name): [string, string] => ['of', name]))}`)
const shown = async (...of: string[]) => (await ask(of)).json()

describe('What a page shows', () => {
  it('is answered in the order of the parameters, for all public types, totals included', async () => {
    await worker.api('POST', '/v1/rollup')
    await worker.add('page_view', { '/blog/a': 10 })
    expect(
      await shown(
        'number 42',
        'page_view* /blog/',
        'page_view /blog/a',
        'page_view* ',
        'page_view /never',
        'number 42',
      ),
    ).toEqual([6, 13, 13, 22, 0, 6])
  })

  it('is spelled as people read it', async () => {
    const spelled = [
      'page_view /caf%C3%A9/b',
      'page_view /caf%c3%a9%2fb',
      'page_view /caf\u00e9/%62',
      'page_view* /caf%C3%A9/',
    ]
    expect(await shown(...spelled)).toEqual([4, 0, 4, 4])
  })

  it.each([
    ['a type that is not configured', 'nothing /a'],
    ['a type that is not public', 'secret /a'],
    ['the total of a type that is not public', 'secret* /'],
    ['a prefix that is not listed', 'page_view* /none'],
    ['a key of 513 bytes', `page_view ${'x'.repeat(513)}`],
    ['no key', 'page_view '],
    ['no type', ' /a'],
    ['no blank', 'page_view'],
    ['nothing', ''],
  ])('is null for %s, and the others are answered', async (_, wrong) => {
    expect(await shown('number 42', wrong, 'page_view /none')).toEqual([6, null, 5])
    expect(await shown(wrong)).toEqual([null])
  })

  it('may be read by scripts of every site, with and without a token, and has an ETag', async () => {
    const response = await ask(['number 42'])
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(response.headers.get('Cache-Control')).toBe('public, no-cache')
    const again = await worker.fetch('/v1/shown?of=number+42', {
      headers: { 'If-None-Match': response.headers.get('ETag')! },
    })
    expect(again.status).toBe(304)
    expect(await (await worker.api('GET', '/v1/shown?of=secret+/a')).json()).toEqual([null])
  })

  it('has eight totals at most, because each takes statements that hits need too', async () => {
    const prefixes = Array.from({ length: 16 }, (_, i) => `/p${i}/`)
    const many = new TestWorker(db.url, { COUNTERS: { page_view: { record_type: 1, public: true, prefixes } } })
    const asked = prefixes.map((prefix) => `page_view* ${prefix}`)
    const statements = await db.recording(async () => {
      expect(await (await ask([...asked, 'page_view /none'], many)).json()).toEqual([
        ...Array(8).fill(0),
        ...Array(8).fill(null),
        5,
      ])
    })
    expect(statements.length).toBeLessThan(40)
  })

  it('may be of a type with a hyphen in its name', async () => {
    const hyphened = new TestWorker(db.url, {
      COUNTERS: { 'page-view': { record_type: 1, public: true } },
    })
    expect(await (await ask(['page-view /none'], hyphened)).json()).toEqual([5])
  })

  it('reads each total once, however often it is asked for', async () => {
    const statements = await db.recording(async () => {
      expect(await shown(...Array(500).fill('page_view* '))).toEqual(Array(500).fill(22))
    })
    expect(statements.length).toBeLessThanOrEqual(1 + db.ranges)
  })

  it('is refused without a name, with more than 1,000, and with another parameter', async () => {
    await expectProblem(await worker.fetch('/v1/shown'), 422, 'invalid_request')
    await expectProblem(await ask(Array(1_001).fill('number 42')), 422, 'invalid_request')
    await expectProblem(await worker.fetch('/v1/shown?of=number+42&type=number'), 422, 'invalid_request')
    expect(await shown(...Array(1_000).fill('number 42'))).toHaveLength(1_000)
  })

  it('is served below a base path', async () => {
    const mounted = new TestWorker(db.url, {
      BASE_PATH: '/counter',
      COUNTERS: { page_view: { record_type: 1, public: true } },
    })
    expect(await (await mounted.fetch('/counter/v1/shown?of=page_view+/none')).json()).toEqual([5])
  })
})
