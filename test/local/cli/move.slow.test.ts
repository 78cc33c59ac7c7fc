import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBuiltWorker, TOKEN } from '../built-worker.ts'
import { atEndOfSuite, NpmScript, saying } from '../npm-script.ts'

const COUNTERS = {
  page_view: { record_type: 1, also: 'visitor' },
  visitor: { record_type: 2, dedupe_seconds: 60 },
}

describe('npm run delete, rename and merge', () => {
  let url: string

  const atEnd = atEndOfSuite()

  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const run = (name: string, ...args: string[]) =>
    new NpmScript(['run', '-s', name, '--', '--url', url, '--token', TOKEN, ...args]).outcome()
  /** All counters, by key. */
  const counters = async (type = 'page_view') => {
    const response = await fetch(`${url}/v1/search/${type}?limit=100`, { headers })
    const page = (await response.json()) as { counters: { key: string; count: number }[] }
    return Object.fromEntries(page.counters.map(({ key, count }) => [key, count]))
  }

  beforeAll(async () => {
    const { workerd } = await startBuiltWorker({ settings: { COUNTERS } }, atEnd)
    url = workerd.url
  })
  beforeEach(async () => {
    for (const key of Object.keys(await counters())) {
      await fetch(`${url}/v1/counters/page_view/${encodeURIComponent(key)}`, { method: 'DELETE', headers })
    }
    const increments = ['/a', '/spam/1', '/spam/2', '/spam/ü 3'].map((key, i) => ({
      type: 'page_view',
      key,
      by: i + 1,
    }))
    const body = JSON.stringify({ increments })
    expect((await fetch(`${url}/v1/increments`, { method: 'POST', headers, body })).status).toBe(200)
  })

  it('delete one counter, or those with a prefix and below a number. A dry run only lists them', async () => {
    const dry = await run('delete', 'page_view', '--prefix', '/spam/', '--below', '4', '--dry-run')
    expect(dry).toEqual(saying(0, '2 counters would be deleted'))
    expect(Object.keys(await counters())).toHaveLength(4)
    expect(await run('delete', 'page_view', '--prefix', '/spam/', '--below', '4')).toMatchObject(
      saying(0, '2 counters deleted.'),
    )
    expect(await counters()).toEqual({ '/a': 1, '/spam/ü 3': 4 })
    expect((await run('delete', 'page_view', '/a')).code).toBe(0)
    expect(await counters()).toEqual({ '/spam/ü 3': 4 })
    // One that is named must be there.
    expect(await run('delete', 'page_view', '/a')).toEqual(saying(1, 'The counter does not exist'))
    // Run again, a command with a prefix finds nothing to do.
    expect((await run('delete', 'page_view', '--prefix', '/none')).code).toBe(0)
  })

  it('show what is invisible in a key, in a dry run and in an error', async () => {
    const key = '/odd/\u202E\u200Bb\t'
    const body = JSON.stringify({ increments: [{ type: 'page_view', key, by: 7 }] })
    expect((await fetch(`${url}/v1/increments`, { method: 'POST', headers, body })).status).toBe(200)
    const shown = '/odd/\\u{202E}\\u{200B}b\\u{9}'
    expect(await run('delete', 'page_view', key, '--dry-run')).toEqual(saying(0, `7\t${shown}`))
    expect(await run('rename', 'page_view', '--prefix', '/odd/\u202E\u200Bb\t', '--to', '/a')).toEqual(
      saying(1, `${shown}: the Worker answered 409`),
    )
    expect(await counters()).toMatchObject({ [key]: 7 })
  })

  it('rename a beginning, and report keys that are taken', async () => {
    expect((await run('rename', 'page_view', '--prefix', '/spam/', '--to', '/ham/')).code).toBe(0)
    expect(await counters()).toEqual({ '/a': 1, '/ham/1': 2, '/ham/2': 3, '/ham/ü 3': 4 })
    expect(await run('rename', 'page_view', '--prefix', '/ham/1', '--to', '/a')).toMatchObject(
      saying(1, '/ham/1: the Worker answered 409'),
    )
    expect(await run('rename', 'page_view', '--prefix', '/ham', '--to', '/ham/new')).toMatchObject(
      saying(1, 'must not begin with the prefix'),
    )
  })

  it('merge counters into one', async () => {
    expect((await run('merge', 'page_view', '--prefix', '/spam/', '--into', '/a')).code).toBe(0)
    expect(await counters()).toEqual({ '/a': 10 })
  })

  it('take the counters of the same keys in the types of `also` along with --also', async () => {
    const increments = ['/a', '/spam/1', '/spam/2'].map((key) => ({ type: 'visitor', key, by: 10 }))
    const body = JSON.stringify({ increments })
    expect((await fetch(`${url}/v1/increments`, { method: 'POST', headers, body })).status).toBe(200)
    expect((await run('rename', 'page_view', '--prefix', '/spam/', '--to', '/ham/', '--also')).code).toBe(0)
    expect(await counters('visitor')).toEqual({ '/a': 10, '/ham/1': 10, '/ham/2': 10 })
    expect((await run('merge', 'page_view', '/ham/1', '--into', '/a', '--also')).code).toBe(0)
    expect(await counters('visitor')).toEqual({ '/a': 20, '/ham/2': 10 })
    expect((await run('delete', 'page_view', '/a', '--below', '10', '--also')).code).toBe(0)
    expect((await run('delete', 'page_view', '/ham/2')).code).toBe(0)
    expect(await counters('visitor')).toEqual({ '/ham/2': 10 })
    expect(await counters()).toEqual({ '/ham/ü 3': 4 })
  })
})
