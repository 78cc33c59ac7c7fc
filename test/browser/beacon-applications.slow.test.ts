import { describe, expect, it } from 'vitest'
import { goTo, pagesOfFile, views } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

describe.each([
  ['with the Navigation API', true],
  ['in a browser without it', false],
])('A single-page application, %s,', (_, hasApi) => {
  const openApplication = (body = '', work = '') => {
    const hidden = hasApi ? '' : "Object.defineProperty(window, 'navigation', { value: undefined })\n"
    return open(body, { before: (tab) => tab.addInitScript(hidden + work) })
  }

  it('counts every page, also those that it leaves quickly, and a replaced URL or a pushed state only if the path changes', async () => {
    const { tab, said } = await openApplication()
    for (const path of ['/map', '/list', '/list?page=2']) await goTo(tab, path)
    await counter.reaches(views({ '/page': 1, '/map': 1, '/list': 2 }))
    await tab.goBack()
    await tab.goBack()
    await tab.goForward()
    const seen = { '/page': 1, '/map': 2, '/list': 4 }
    await counter.has(views(seen), tab)
    await tab.evaluate(() => history.replaceState(null, '', '/list?filter=a'))
    await tab.evaluate(() => history.pushState({ open: true }, ''))
    await counter.has(views(seen), tab)
    await tab.evaluate(() => {
      history.replaceState(null, '', '/a')
      for (const name of ['b', 'c']) history.pushState(null, '', `/${name}`)
    })
    await counter.has(views({ ...seen, '/a': 1, '/b': 1, '/c': 1 }), tab)
    expect(said).toEqual([])
  })

  it('counts its last page even if the visitor leaves at once', async () => {
    // The timer is always too late, even if the next page loads slowly.
    const { tab } = await openApplication(
      '',
      'const real = setTimeout; setTimeout = (work, ms) => real(work, 100 * ms)',
    )
    await tab.evaluate(() => {
      history.pushState(null, '', '/last')
      location.href = '/elsewhere'
    })
    await counter.has(views({ '/page': 1, '/last': 1, '/elsewhere': 1 }))
  })

  it('that navigates while its first page settles waits for the canonical link of the next', async () => {
    const { tab } = await openApplication(
      '<link rel="canonical" href="/first">',
      `window.real = setTimeout
       window.waiting = new Map()
       setTimeout = (work) => waiting.set(waiting.size + 1, work).size
       clearTimeout = (id) => void waiting.set(id, () => {})`,
    )
    await counter.reaches(views({ '/first': 1 }))
    await tab.evaluate(`{
      const ofFirstPage = waiting.size
      history.pushState(null, '', '/elsewhere')
      for (const [id, end] of waiting) if (id <= ofFirstPage) end()
      document.querySelector('[rel=canonical]').href = '/second'
      for (const [id, end] of waiting) if (id > ofFirstPage) end()
      setTimeout = real
    }`)
    await counter.has(views({ '/first': 1, '/second': 1 }), tab)
  })

  it('counts under a canonical link that changed with the page, and not under an unchanged one', async () => {
    const { tab } = await openApplication('<link rel="canonical" href="/first">')
    await goTo(tab, '/elsewhere')
    await counter.reaches(views({ '/first': 1, '/elsewhere': 1 }))
    await tab.evaluate(`
      history.pushState(null, '', '/third?x=1')
      setTimeout(() => { document.querySelector('[rel=canonical]').href = '/blog/third' }, 20)`)
    await counter.has(views({ '/first': 1, '/elsewhere': 1, '/blog/third': 1 }), tab)
  })
})

it('A router on the Navigation API counts every page, and a replaced address only if its path changes', async () => {
  const { tab, said } = await open()
  await tab.evaluate(`navigation.addEventListener('navigate', (event) => event.intercept({ handler: async () => {} }))`)
  for (const [path, how, counts] of [
    ['/one', 'auto', { '/page': 1, '/one': 1 }],
    ['/one?page=2', 'auto', { '/page': 1, '/one': 2 }],
    ['/one?page=3', 'replace', { '/page': 1, '/one': 2 }],
    ['/two', 'replace', { '/page': 1, '/one': 2, '/two': 1 }],
  ] as const) {
    await tab.evaluate(`navigation.navigate('${path}', { history: '${how}' }).finished.then(() => {})`)
    await counter.reaches(views(counts))
  }
  await tab.goBack()
  await counter.has(views({ '/page': 1, '/one': 3, '/two': 1 }), tab)
  expect(said).toEqual([])
})
