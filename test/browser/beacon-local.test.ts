import { expect, it } from 'vitest'
import { pagesOfFile, shows } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

it.each(['localhost', '127.0.0.1'])('Counts are shown on %s too, where views need data-local', async (host) => {
  await counter.add('page_view', '/page', 7)
  const { tab, said } = await open('<b data-counter>…</b>', { host })
  await shows(tab, 'b', '7')
  expect(said).toEqual(['log: needs data-local'])
  const local = await open('<b data-counter>…</b>', { host, tag: 'data-local' })
  await shows(local.tab, 'b', '8')
  await counter.has({ 'page_view /page': 8 }, tab, local.tab)
  expect(local.said).toEqual([])
})
