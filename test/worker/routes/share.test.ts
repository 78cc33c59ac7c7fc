import { beforeAll, describe, expect, it, vi } from 'vitest'
import { SAME_SITE, sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  download: {
    record_type: 1,
    unit: 'down[loads]',
    keys: 'files',
    prefixes: ['app-', 'q"&/'],
    public: true,
    public_page: true,
  },
  plain: { record_type: 2, public: true },
  invoice: { record_type: 3 },
}
/** Keys that must be written in other ways, in addresses, in Markdown and in HTML. */
const KEYS = { 'app-1.tgz': 41, 'app-(2).tgz': 12, 'a/b.svg': 13, 'q"&/ü [x]!': 15, 'a%20b': 16, '*': 17 }
const TOTAL = Object.values(KEYS).reduce((sum, count) => sum + count, 0)

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })
let headers: Record<string, string>
beforeAll(async () => {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  await worker.bringAll(Object.entries(KEYS).map(([key, count]) => ({ type: 'download', key, day, count })))
  for (const type of ['plain', 'invoice']) await worker.add(type, { a: 3 })
  headers = { Cookie: await sessionCookie(worker) }
})

const open = async (path: string) => (await worker.fetch(path, { headers })).text()
const sharing = (share: 'total' | 'key', of: string) =>
  open(`/?${new URLSearchParams({ type: 'download', share, ...(of !== '' && { of }) })}`)

/** What a page offers to paste, by its kind, as text. */
async function snippetsOn(page: string): Promise<Record<string, string>> {
  const areas = await findAll(page, '#share textarea')
  return Object.fromEntries(areas.map(({ attributes, text }) => [attributes.id!.replace('share-', ''), text]))
}
/** The address in an image of Markdown, whose text and address end at the first bracket that nothing escapes. */
const addressIn = (markdown = '') => /^!\[(?:\\.|[^\\\]])*\]\(([^()\s]+)\)$/.exec(markdown)?.[1] ?? ''
async function answerTo(address: string): Promise<string> {
  const { origin, pathname, search } = new URL(address)
  const response = await worker.fetchAt(origin, pathname + search)
  expect(response.status, address).toBe(200)
  return response.text()
}
/** What the script asks for an element, and shows in it. */
async function shownIn(element: string): Promise<number | null> {
  const [found] = await findAll(element, 'b')
  const { 'data-type': type, 'data-counter': counter, 'data-total': total } = found!.attributes
  const of = `${type}${total === undefined ? ' ' : '* '}${total ?? counter}`
  const shown = await worker.fetch(`/v1/shown?${new URLSearchParams({ of })}`)
  return ((await shown.json()) as (number | null)[])[0]!
}

describe('The share panel', () => {
  it.each([
    ['total', '', TOTAL],
    ['total', 'app-', 53],
    ['total', 'q"&/', 15],
    ...Object.entries(KEYS).map(([key, count]) => ['key', key, count] as const),
  ] as const)('shows the number: %s %s', async (share, of, count) => {
    const page = await sharing(share, of)
    const { badge, chart, number, page: publicPage } = await snippetsOn(page)
    expect(await answerTo(addressIn(badge))).toContain(`>${count}<`)
    expect(await answerTo(addressIn(chart))).toContain(`>${count} down[loads]<`)
    // The script reads keys as pages have them.
    if (of === 'a%20b') expect(number).toBeUndefined()
    else expect(await shownIn(number!)).toBe(count)
    expect((await numbersOn(await answerTo(publicPage!))).tiles.all!.count).toBe(TOTAL)
    // The images that the page itself loads are the same.
    const previews = await findAll(page, '#share img')
    for (const [nth, { attributes }] of previews.entries()) {
      const text = await answerTo(`https://counter.test${attributes.src}`)
      expect(text).toContain(nth === 0 ? `>${count}<` : `>${count} down[loads]<`)
    }
    expect(previews).toHaveLength(2)
  })

  it('is opened and closed by a link, and begins with the prefix of the page', async () => {
    const linkOn = async (page: string) => (await findAll(page, '[aria-label="Sharing"] a'))[0]!.attributes.href!
    const start = await open('/?type=download&find=app-&period=7d')
    expect(await findAll(start, '#share')).toEqual([])
    const page = await open(await linkOn(start))
    expect((await snippetsOn(page)).number).toBe('<b data-total="app-" data-type="download">…</b>')
    const links = await findAll(page, '#share nav a')
    expect(links.map(({ text }) => text)).toEqual(['All files', 'app-', 'q"&/'])
    const chosen = await open(links[2]!.attributes.href!)
    // The period and the list stay, then and after closing.
    expect(await linkOn(chosen)).toBe('/?type=download&period=7d&find=app-')
    const fields = (await findAll(page, '#share form input')).map(({ attributes }) => attributes.name)
    expect(fields).toEqual(['type', 'period', 'find', 'share', 'of'])
  })

  it('is linked from the page of a counter, below a base path too', async () => {
    const page = await open('/counter?type=download&key=a/b.svg')
    const link = (await findAll(page, 'main p a')).find(({ text }) => text === 'Share')!
    expect(await snippetsOn(await open(link.attributes.href!))).toEqual(
      await snippetsOn(await sharing('key', 'a/b.svg')),
    )
    const below = new TestWorker(db.url, { COUNTERS, BASE_PATH: '/my/counter' })
    const signedIn = await below.fetch('/my/counter/login', {
      method: 'POST',
      headers: { ...SAME_SITE, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: `token=${TOKEN}`,
    })
    const Cookie = signedIn.headers.get('Set-Cookie')!.split(';')[0]!
    const path = '/my/counter/?type=download&share=total'
    const shared = await (await below.fetch(path, { headers: { Cookie } })).text()
    const { badge, page: publicPage } = await snippetsOn(shared)
    for (const address of [addressIn(badge), publicPage!]) {
      expect(address).toMatch(/^https:\/\/counter\.test\/my\/counter\//)
      expect((await below.fetch(new URL(address).pathname)).status).toBe(200)
    }
    const [preview] = await findAll(shared, '#share img')
    expect(preview!.attributes.src).toMatch(/^\/my\/counter\/badge\/download\.svg\?v=\d+$/)
  })

  it('says which setting is missing', async () => {
    const text = async (query: string) => (await findAll(await open(`/?share=total&type=${query}`), '#share'))[0]!.text
    expect(await text('invoice')).toContain('public = true in [vars.COUNTERS.invoice]')
    expect(await findAll(await open('/?share=total&type=invoice'), '#share textarea')).toEqual([])
    expect(await text('plain')).toContain('To publish one, set public_page = true in [vars.COUNTERS.plain]')
    // Only listed prefixes are public.
    expect((await snippetsOn(await sharing('total', 'a'))).badge).not.toContain('prefix')
  })

  it('has another preview after the counter was set', async () => {
    const preview = async () => (await findAll(await sharing('key', 'app-1.tgz'), '#share img'))[0]!.attributes.src!
    const before = await preview()
    vi.setSystemTime(Date.now() + 1)
    await worker.api('PUT', '/v1/counters/download/app-1.tgz', { count: 500 })
    const after = await preview()
    expect(after).not.toBe(before)
    expect(await (await worker.fetch(after)).text()).toContain('>500<')
  })
})

it('The menu leads to the public page of a type that has one', async () => {
  const links = async (type: string) =>
    (await findAll(await open(`/?type=${type}`), '#menu a')).map(({ attributes }) => attributes.href)
  expect(await links('download')).toEqual(['/stats/download', '/docs'])
  expect(await links('plain')).toEqual(['/docs'])
})
