import { beforeEach, describe, expect, it } from 'vitest'
import { emptyDatabase, freshDatabase } from '../../harness/database.ts'
import { SAME_SITE, sessionCookie } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'

const PRIVATE = { COUNTERS: { invoice: { record_type: 9 }, page_view: { record_type: 1, public: true } } }

const { db, worker } = sharedWorker(PRIVATE)

describe('The pages', () => {
  const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

  it('allow only their own files, and no frames', async () => {
    const mine = await sessionCookie(worker)
    for (const [path, init] of [
      ['/', {}],
      ['/', { headers: { Cookie: mine } }],
      ['/counter?type=page_view&key=a', { headers: { Cookie: mine } }],
      ['/login', { method: 'POST', headers: SAME_SITE, body: 'token=wrong' }],
    ] as const) {
      const { headers } = await worker.fetch(path, init)
      expect(headers.get('Content-Security-Policy')).toBe(POLICY)
      expect(headers.get('X-Frame-Options')).toBe('DENY')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    }
  })

  it('contain no inline script or style, for any key', async () => {
    const key = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp;\u202e\0`
    const response = await worker.fetch(`/counter?type=page_view&key=${encodeURIComponent(key)}`, {
      headers: { Cookie: await sessionCookie(worker) },
    })
    const page = await response.text()
    expect(page).not.toMatch(/<script>|<img src=x|style=|<style/)
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page.match(/<script/g)).toHaveLength(1)
  })

  it('show what is invisible in a key, in the title too, and lead to the page of the key itself', async () => {
    const COUNTERS = { page_view: { record_type: 1, url: 'https://example.com' } }
    const other = new TestWorker(db.url, { ...PRIVATE, COUNTERS })
    const key = '/a\u202E\u200B\tb '
    const response = await other.fetch(`/counter?type=page_view&key=${encodeURIComponent(key)}`, {
      headers: { Cookie: await sessionCookie(other) },
    })
    const page = await response.text()
    const shown = '/a\\u{202E}\\u{200B}\\u{9}b\\u{20}'
    expect(page).toContain(`<title>${shown} · Slotted Counter</title>`)
    expect(page).toContain(`<h1 class="key"><bdi>${shown}</bdi></h1>`)
    expect(page).toContain(`<a href="https://example.com${key}">https://example.com${shown}</a>`)
  })

  it('answer whatever their address says', async () => {
    const headers = { Cookie: await sessionCookie(worker) }
    const counter = '/counter?type=page_view&key='
    for (const [path, status] of [
      ['/?type=%', 404],
      [`${counter}%ff%`, 200],
      [counter + 'x'.repeat(8_000), 404],
    ] as const) {
      expect((await worker.fetch(path, { headers })).status, path).toBe(status)
    }
  })

  it('say what is wrong if there is no database, and show no numbers', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9', PRIVATE)
    const mine = await sessionCookie(dead)
    const page = await (await dead.fetch('/', { headers: { Cookie: mine } })).text()
    expect(page).toContain('<p id="trouble">The database does not respond.</p>')
    expect(page).not.toMatch(/data-zone|class="tile"/)
    expect(page).toMatch(/<\/html>$/)
  })

  it('send their head at once, while their numbers are read', async () => {
    const slow = await freshDatabase()
    const waiting = new TestWorker(slow.url, PRIVATE)
    const Cookie = await sessionCookie(waiting)
    await slow.behave({ faults: [{ action: 'hang-request', times: 1_000 }] })
    const { body } = await waiting.fetch('/counter?type=page_view&key=a', { headers: { Cookie } })
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader.read()
    expect(first.value).toMatch(/<link rel="stylesheet".*<script type="module"/s)
    expect(first.value).not.toContain('<body>')
    await reader.cancel()
  })
})

describe('While the database lacks tables', () => {
  beforeEach(() => bePatient())

  const front = async (to: TestWorker, Cookie = '') => (await to.fetch('/', { headers: { Cookie } })).text()

  it('the front page says so to everybody, and offers to make them to those who may', async () => {
    const API_TOKENS = await tokenLines({ reader: 'read', limited: 'manage:invoice' })
    const lacking = new TestWorker((await emptyDatabase()).url, { ...PRIVATE, API_TOKENS })
    expect(await front(lacking)).toMatch(/does not have the tables.*Sign in/)
    expect(await front(lacking, await sessionCookie(lacking))).toContain('id="make-tables"')
    for (const name of ['reader', 'limited']) {
      const page = await front(lacking, await sessionCookie(lacking, tokenOf(name)))
      expect(page).toContain('Tables are missing or from an older version')
      expect(page).not.toContain('id="make-tables"')
    }
  })

  it.each([
    ['a table was lost', 'DROP TABLE change_keys'],
    ['they are from an older version', 'UPDATE schema_version SET version = 0'],
  ])('the front page offers to make them again if %s, and has the statements for a deploy request', async (_, sql) => {
    const db = await freshDatabase()
    await db.arrange(sql)
    const old = new TestWorker(db.url, PRIVATE)
    const page = await front(old, await sessionCookie(old))
    expect(page).toContain('A lost table is made again, empty.')
    expect(page).toMatch(/<textarea id="statements"[^>]*>\s*CREATE TABLE IF NOT EXISTS slotted_counters/)
  })

  it('the front page waits before it asks again if the database does not answer', async () => {
    const db = await emptyDatabase()
    await db.behave({ faults: [{ action: 'error', errno: 1142, match: 'schema_version', times: 1 }] })
    const lacking = new TestWorker(db.url, PRIVATE)
    stopClock()
    // A second question would be answered.
    for (let i = 0; i < 3; i++) expect(await front(lacking)).not.toContain('does not have the tables')
  })

  it('the front page is the usual one as soon as nothing is missing, and stops checking', async () => {
    const db = await freshDatabase()
    const complete = new TestWorker(db.url, PRIVATE)
    for (const looks of [true, false]) {
      const sent = await db.recording(async () => {
        await complete.fetch('/')
      })
      expect(sent.length > 0).toBe(looks)
    }
    expect(await front(complete, await sessionCookie(complete))).toContain('data-page="start"')
  })
})

describe('For a token', () => {
  /** The pages of a private counter and of a type, for a token with a scope. */
  async function pagesFor(scope: string) {
    const API_TOKENS = await tokenLines({ someone: scope })
    const COUNTERS = {
      ...PRIVATE.COUNTERS,
      invoice: { record_type: 9, dedupe_seconds: 60, also: 'buyer' },
      buyer: { record_type: 10, dedupe_seconds: 60 },
    }
    const limited = new TestWorker((await freshDatabase()).url, { COUNTERS, API_TOKENS })
    await limited.add('invoice', { a: 1 })
    const Cookie = await sessionCookie(limited, tokenOf('someone'))
    const get = async (path: string) => {
      return (await limited.fetch(path, { headers: { Cookie } })).text()
    }
    return {
      overview: await get('/'),
      counter: await get('/counter?type=invoice&key=a'),
      other: await get('/?type=page_view'),
    }
  }
  const CHANGES = /id="(?:set|reset|confirm)"/

  it('that may only read, nothing can be changed', async () => {
    const { overview, counter } = await pagesFor('read')
    for (const page of [overview, counter]) {
      expect(page).not.toMatch(CHANGES)
      expect(page).toContain('id="problems"')
      expect(page).toContain('?type=page_view')
    }
  })

  it('that is limited to a type, there are no other types and no status', async () => {
    const { overview, counter, other } = await pagesFor('manage:invoice')
    for (const page of [overview, counter]) expect(page).not.toMatch(/page_view|buyer|id="problems"/)
    expect(overview).toContain('href="/?type=invoice"')
    expect(counter).toContain('id="set"')
    expect(counter).toContain('The same key in other types is not changed')
    expect(other).toContain('Your token does not cover this type')
    expect(other).not.toMatch(/Page view|data-page/)
  })

  it('that may manage, everything is there', async () => {
    const { overview, counter, other } = await pagesFor('manage')
    for (const page of [overview, counter, other]) expect(page).toContain('id="problems"')
    for (const id of ['set', 'move', 'confirm', 'also']) expect(counter).toContain(`id="${id}"`)
  })
})
