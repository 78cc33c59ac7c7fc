import { expect, it } from 'vitest'
import { readReleases } from '../../scripts/assets/beacon-releases.ts'
import { call, pagesOfFile } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

it('A page that includes a release with integrity is counted under the key and the type of the tag, and for each call', async () => {
  const { version, integrity } = (await readReleases()).at(-1)!
  const source = `src="${counter.url}/slotted-${version}.js" integrity="${integrity}" crossorigin`
  const script = `<script async ${source} data-key="a page & more" data-type="download"></script>`
  const { tab, said } = await open('', { script })
  await counter.reaches({ 'download a page & more': 1 })
  await call(tab)
  await call(tab, ['by hand', 'page_view'])
  await counter.has({ 'download a page & more': 2, 'page_view by hand': 1 }, tab)
  expect(said).toEqual([])
})
