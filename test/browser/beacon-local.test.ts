import { expect, it } from 'vitest'
import { pagesOfFile, shows } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

it.each(['localhost', '127.0.0.1'])('A page of %s counts if the script comes from this machine, too', async (host) => {
  for (const from of ['localhost', '127.0.0.1']) {
    const { tab, said } = await open('<b data-counter>…</b>', { host, from: counter.url.replace('127.0.0.1', from) })
    await shows(tab, 'b', from === 'localhost' ? '1' : '2')
    expect(said).toEqual([])
  }
})

it.each(['localhost', '127.0.0.1'])('A page of %s needs data-local if the script is from elsewhere', async (host) => {
  await counter.add('page_view', '/page', 7)
  const from = counter.url.replace('127.0.0.1', 'counter.example')
  const { tab, said } = await open('<b data-counter>…</b>', { host, from })
  await shows(tab, 'b', '7')
  expect(said).toEqual(['log: needs data-local'])
  const local = await open('<b data-counter>…</b>', { host, from, tag: 'data-local' })
  await shows(local.tab, 'b', '8')
  await counter.has({ 'page_view /page': 8 }, tab, local.tab)
  expect(local.said).toEqual([])
})
