import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../../harness/expect-problem.ts'
import { sharedWorker } from '../../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
  },
})

describe('Keys', () => {
  it.each([
    ['a slash and a percent sign', '/50%/off'],
    ['an encoded slash, literally', 'a%2Fb'],
    ['spaces, quotes and backslashes', ` '"\\\` `],
    ['question mark and hash', 'a?b#c'],
    ['SQL', `'); DROP TABLE slotted_counters; -- `],
    ['emoji, right-to-left and combining marks', '👩‍👩‍👧 שלום q\u0301'],
    ['control characters', '\u0001\n\t\r\u007f\u001a'],
    ['exactly 512 bytes', 'é'.repeat(256)],
    ['a placeholder', '? :name ?'],
  ])('with %s are counted and read back unchanged', async (_, key) => {
    expect((await worker.hit('page_view', key)).status).toBe(204)
    expect((await worker.api('POST', `/v1/counters/page_view/${encodeURIComponent(key)}`)).status).toBe(200)
    expect(await worker.read('page_view', key)).toMatchObject({ key, count: 2 })
    const listed = await worker.fetch(`/v1/counters/page_view?key=${encodeURIComponent(key)}`)
    expect(await listed.json()).toMatchObject({ counters: [{ key, count: 2 }] })
    const hex = [...new TextEncoder().encode(key)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    expect(await db.number('SELECT COUNT(*) FROM counters WHERE LOWER(HEX(name)) = ?', [hex])).toBe(1n)
  })

  it('that differ in case, accents, normal form, surrounding spaces or encoding are different counters', async () => {
    const keys = ['key', 'Key', 'kéy', 'ke\u0301y', 'key ', ' key', 'key/', '%6bey', '7', '007', '\n', '\u{10ffff}']
    for (const [index, key] of keys.entries()) {
      await worker.api('POST', `/v1/counters/page_view/${encodeURIComponent(key)}`, { by: index + 1 })
    }
    for (const [index, key] of keys.entries())
      expect(await worker.read('page_view', key)).toMatchObject({ count: index + 1 })
  })

  it.each(['.', '..'])('%j is refused, wherever it is named', async (key) => {
    const named = encodeURIComponent(key).replaceAll('.', '%2E')
    const query = `?type=page_view&key=${named}`
    const refused = {
      errors: [{ field: expect.stringMatching(/key(?:\.0)?$|^to$/), message: expect.stringContaining('".."') }],
    }
    await worker.add('page_view', { a: 1 })
    for (const response of [
      await worker.hit('page_view', key),
      await worker.fetch(`/hit${query}`, { method: 'POST' }),
      await worker.add('page_view', { [key]: 1 }),
      await worker.bring([{ type: 'page_view', key, count: 1 }]),
      await worker.api('POST', '/v1/counters/page_view/a/rename', { to: key }),
      await worker.fetch(`/v1/counters/page_view${query.replace('?type=page_view&', '?')}`),
    ]) {
      await expectProblem(response, 422, 'invalid_request', refused)
    }
    expect((await worker.fetch(`/hit.gif${query}`)).headers.get('X-Hit')).toBe('ignored; reason=invalid_request')
  })
})
