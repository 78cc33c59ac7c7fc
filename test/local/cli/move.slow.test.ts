import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { NpmScript, npmStart, stateDirectory } from '../npm-script.ts'

describe('npm run delete, rename and merge', () => {
  let url: string

  const cleanUps: (() => Promise<void>)[] = []
  const atEnd = (cleanUp: () => Promise<void>) => void cleanUps.unshift(cleanUp)
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })

  const headers = { Authorization: 'Bearer local', 'Content-Type': 'application/json' }
  const run = (script: string, ...args: string[]) =>
    new NpmScript(['run', '-s', script, '--', '--url', url, '--token', 'local', ...args])
  const ended = async (script: NpmScript) => ({ code: await script.ended, output: script.output })
  /** All counters, by key. */
  const counters = async () => {
    const response = await fetch(`${url}/v1/search/page_view?limit=100`, { headers })
    const page = (await response.json()) as { counters: { key: string; count: number }[] }
    return Object.fromEntries(page.counters.map(({ key, count }) => [key, count]))
  }

  beforeAll(async () => {
    const response = await fetch(inject('databases'), { method: 'POST' })
    const { name } = (await response.json()) as { name: string }
    const MYSQL_URL = `${inject('mysqlUrl')}/${name}`
    ;({ url } = await npmStart({ MYSQL_URL, STATE_DIR: await stateDirectory(atEnd), API_TOKEN: 'local' }, atEnd))
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
    const dry = await ended(run('delete', 'page_view', '--prefix', '/spam/', '--below', '4', '--dry-run'))
    expect(dry).toMatchObject({ code: 0, output: expect.stringContaining('2 counters would be deleted') })
    expect(Object.keys(await counters())).toHaveLength(4)
    expect(await ended(run('delete', 'page_view', '--prefix', '/spam/', '--below', '4'))).toMatchObject({
      code: 0,
      output: expect.stringContaining('2 counters deleted.'),
    })
    expect(await counters()).toEqual({ '/a': 1, '/spam/ü 3': 4 })
    expect((await ended(run('delete', 'page_view', '/a'))).code).toBe(0)
    expect(await counters()).toEqual({ '/spam/ü 3': 4 })
    // One that is named must be there.
    expect(await ended(run('delete', 'page_view', '/a'))).toMatchObject({
      code: 1,
      output: expect.stringContaining('There is no such counter'),
    })
    // Run again, a command with a prefix finds nothing to do.
    expect((await ended(run('delete', 'page_view', '--prefix', '/none'))).code).toBe(0)
  })

  it('rename a beginning, and report keys that are taken', async () => {
    expect((await ended(run('rename', 'page_view', '--prefix', '/spam/', '--to', '/ham/'))).code).toBe(0)
    expect(await counters()).toEqual({ '/a': 1, '/ham/1': 2, '/ham/2': 3, '/ham/ü 3': 4 })
    expect(await ended(run('rename', 'page_view', '--prefix', '/ham/1', '--to', '/a'))).toMatchObject({
      code: 1,
      output: expect.stringContaining('"/ham/1": the Worker answered 409'),
    })
    expect(await ended(run('rename', 'page_view', '--prefix', '/ham', '--to', '/ham/new'))).toMatchObject({
      code: 1,
      output: expect.stringContaining('must not begin with the prefix'),
    })
  })

  it('merge counters into one', async () => {
    expect((await ended(run('merge', 'page_view', '--prefix', '/spam/', '--into', '/a'))).code).toBe(0)
    expect(await counters()).toEqual({ '/a': 10 })
  })
})
