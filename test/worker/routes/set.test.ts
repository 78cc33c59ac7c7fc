import { describe, expect, it } from 'vitest'
import { hash64 } from '../../../src/counters/ids.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true },
    issue: { record_type: 2, public: true },
  },
})
const count = (key: string) => worker.count('page_view', key)
const add = (key: string, by: number) => worker.api('POST', `/v1/counters/page_view/${key}`, { by })
const set = (key: string, count: unknown, headers = {}) =>
  worker.api('PUT', `/v1/counters/page_view/${key}`, { count }, headers)
const changed = () => db.number('SELECT (SELECT COUNT(*) FROM counter_adjustments) + (SELECT COUNT(*) FROM counters)')

describe('PUT /v1/counters/:type/:key', () => {
  it('sets a counter, and returns the new count', async () => {
    await add('%2Fa%2Fb', 3)
    const put = await set('%2Fa%2Fb', 100)
    expect([put.status, await put.json()]).toEqual([200, { type: 'page_view', key: '/a/b', count: 100, added: 97 }])
    expect(await count('/a/b')).toBe(100)
    await add('%2Fa%2Fb', 3)
    await worker.api('POST', '/v1/rollup')
    expect(await count('/a/b')).toBe(103)
    await set('%2Fa%2Fb', 0)
    expect(await count('/a/b')).toBe(0)
  })

  it('says by how much it changed the count, with what was counted until then, also if the answer to a COMMIT is lost', async () => {
    await worker.api(
      'POST',
      '/v1/imports',
      { counters: [{ type: 'page_view', key: 'undone', count: '9007199254740993' }] },
      { 'Idempotency-Key': 'undone' },
    )
    await db.behave({ faults: [{ action: 'cut-answer', match: '^COMMIT', times: 1 }] })
    const answer = await (await set('undone', -5, { 'Idempotency-Key': 'undone' })).text()
    await db.behave()
    expect(answer).toContain('"added":-9007199254740998}')
    await add('undone', 1)
    await worker.bring([{ type: 'page_view', key: 'undone', count: '9007199254740998' }])
    expect(await (await worker.api('GET', '/v1/counters/page_view/undone')).text()).toContain(
      '"count":9007199254740994,',
    )
  })

  describe('beside many pending slots', () => {
    const flood = async (key: string, slots: number) => {
      await add(key, 1)
      const id = await hash64(key)
      await db.insert(
        'slotted_counters',
        Array.from({ length: slots - 1 }, (_, slot) => `(1, ${id}, ${slot + 1}, 1, 1, 0)`),
      )
    }

    it('sets the count that a reader of rolled counts sees too, and no list shows one below 0', async () => {
      await flood('flooded', 1_152)
      expect(await (await set('flooded', 0)).json()).toMatchObject({ added: -1_152 })
      for (const query of ['', '?consistency=rolled']) {
        expect(await worker.read('page_view', 'flooded', query)).toMatchObject({ count: 0 })
      }
      await add('flooded', 1)
      const top = await (await worker.fetch('/v1/top/page_view')).json<{ counters: { key: string; count: number }[] }>()
      expect(top.counters.filter(({ count }) => count < 0)).toEqual([])
      await worker.api('POST', '/v1/rollup')
      expect(await count('flooded')).toBe(1)
      await worker.api('DELETE', '/v1/counters/page_view/flooded')
    })

    it('is refused above 50,000, and says how many the roll-up must move first', async () => {
      await flood('drowned', 50_007)
      const response = await set('drowned', 100)
      const detail = expect.stringContaining('The roll-up must move 7 of them first.')
      await expectProblem(response, 409, 'too_many_pending', { detail })
      const pending = 'SELECT SUM(count) FROM slotted_counters WHERE record_type = 1 AND record_id = ?'
      expect(await db.number(pending, [await hash64('drowned')])).toBe(50_007n)
      await db.arrange('DELETE FROM slotted_counters WHERE record_type = 1 AND record_id = ? AND slot = 1', [
        await hash64('drowned'),
      ])
    })
  })

  it.each([0, -5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('accept %i', async (value) => {
    expect((await set('values', value)).status).toBe(200)
    expect(await count('values')).toBe(value)
  })

  it('with an Idempotency-Key happen once, even if the counter has changed since', async () => {
    const key = { 'Idempotency-Key': 'set-once' }
    expect((await set('once', 10, key)).headers.has('Idempotent-Replayed')).toBe(false)
    await add('once', 1)
    await set('once', 500)
    await worker.api('POST', '/v1/rollup')
    const again = await set('once', 10, key)
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true'])
    expect(await again.json()).toEqual({ type: 'page_view', key: 'once', count: 10, added: null })
    expect(await count('once')).toBe(500)
    // The same key is independent for another counter and for an increment.
    await set('twice', 10, key)
    await worker.api('POST', '/v1/counters/page_view/once', { by: 2 }, key)
    expect([await count('once'), await count('twice')]).toEqual([502, 10])
  })

  it('refuse an Idempotency-Key that came before with another count', async () => {
    const key = { 'Idempotency-Key': 'reused' }
    await set('reused', 10, key)
    const other = await set('reused', 11, key)
    await expectProblem(other, 422, 'idempotency_key_reused', { detail: expect.stringContaining('Nothing') })
    expect((await set('reused', 10, key)).headers.get('Idempotent-Replayed')).toBe('true')
    expect(await count('reused')).toBe(10)
  })

  it.each([
    ['a missing count', {}],
    ['a fraction', { count: 1.5 }],
    ['a string', { count: '5' }],
    ['a number beyond 2^53', { count: 2 ** 53 }],
    ['an unknown field', { count: 5, by: 1 }],
    ['null', null],
    ['a list', [5]],
  ])('refuse %s, name the field, and change nothing', async (_, body) => {
    const before = await changed()
    const response = await worker.api('PUT', '/v1/counters/page_view/refused', body)
    await expectProblem(response, 422, 'invalid_request', { errors: expect.any(Array) })
    expect(await changed()).toBe(before)
  })

  it('refuse unknown types, invalid keys, parameters, and oversized bodies', async () => {
    const before = await changed()
    for (const method of ['PUT', 'DELETE']) {
      const status = async (path: string, headers = {}) =>
        (await worker.api(method, `/v1/counters/${path}`, { count: 1 }, headers)).status
      expect([await status('nope/a'), await status('page_view/%ff')]).toEqual([404, 400])
      expect([await status('issue/%00'), await status('page_view/a?x=1')]).toEqual([422, 422])
      expect(await status('page_view/a', { 'Idempotency-Key': 'x'.repeat(256) })).toBe(422)
    }
    expect((await set('a', 'x'.repeat(5_000))).status).toBe(413)
    expect((await worker.api('PUT', '/v1/counters/page_view/a')).status).toBe(415)
    expect(await changed()).toBe(before)
  })

  it('answer 422 if a sum would leave 64 bits, and 503 if the outcome is unknown', async () => {
    const slots = `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until) VALUES (2, ${await hash64('77')}, 1, ?, 1, 0)`
    await db.arrange(slots, [-(2n ** 63n)])
    const refused = await worker.api('PUT', '/v1/counters/issue/77', { count: 2 ** 40 })
    await expectProblem(refused, 422, 'count_out_of_range')
    await db.behave({
      faults: [
        { action: 'cut-answer', match: 'COMMIT' },
        { action: 'cut-request', match: 'SELECT contents_hash', skip: 1, times: 20 },
      ],
    })
    const unsure = await set('unsure', 5, { 'Idempotency-Key': 'unsure' })
    await db.behave()
    await expectProblem(unsure, 503, 'outcome_unknown', { detail: expect.stringContaining('Idempotency-Key') })
    // Another isolate, because the circuit breaker of this one is open.
    expect(await new TestWorker(db.url).count('page_view', 'unsure')).toBe(5)
  })
})
