import fc from 'fast-check'
import { it } from 'vitest'
import { pageKey } from '../../src/counters/keys/key-address.ts'
import { pagesOfFile } from './beacon-pages.ts'

const { counter, open } = pagesOfFile()

/** Parts of paths and queries as people and programs write them: raw, escaped in any way, or wrong. */
const PARTS =
  'a-1 ~ . / ? & ; = + @ : \' " < %20 é ü 日本語 हिन्दी ไทย العربية 😀 👩‍👩‍👧 e\u0301 e%CC%81 caf%C3%A9 ;jsessionid=A1 %3bSID=2 \u202e %2F %2f ' +
  '%3F %23 %26 %2B %25 %2541 %00 %0A %7f %c2%80 %E9 %C3 %C0%AF %ED%A0%80 % %4 %zz'
const part = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PARTS.split(' ')) },
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }).filter((text) => !/[\\|]/.test(text)),
)
/** The path and the query of pages whose keys are not too long. A page with a query has a canonical link. */
const page = fc
  .array(part, { minLength: 1, maxLength: 40 })
  .map((parts) => new URL(`http://site/-${parts.join('')}`))
  .map(({ pathname, search }) => pathname + search)
  .filter((page) => Buffer.byteLength(pageKey(page)) <= 512)

it('One key is counted for each of 500 pages, however their paths are written', async () => {
  const paths = [...new Set(fc.sample(page, { numRuns: 500, seed: 35 }))]
  const { tab } = await open('<link rel="canonical">')
  const counts: Record<string, number> = { 'page_view /page': 1 }
  for (let first = 0; first < paths.length; first += 50) {
    const some = paths.slice(first, first + 50)
    await tab.evaluate((paths) => {
      for (const path of paths) {
        history.pushState(null, '', path)
        const link = document.querySelector('[rel=canonical]')!
        if (path.includes('?')) link.setAttribute('href', path)
        else link.removeAttribute('href')
      }
    }, some)
    for (const path of some) {
      const name = `page_view ${pageKey(path)}`
      counts[name] = (counts[name] ?? 0) + 1
    }
    await counter.reaches(counts)
  }
  await counter.has(counts, tab)
})
