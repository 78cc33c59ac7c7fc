import { FiltersEngine, Request } from '@ghostery/adblocker'
import { describe, expect, it } from 'vitest'
import { readReleases } from '../../scripts/assets/beacon-releases.ts'
import { SCRIPT, STYLE } from '../../src/generated.ts'

/**
 * Rules for every host whose words occur in our addresses: https://github.com/easylist/easylist,
 * easyprivacy/easyprivacy_general.txt, in the versions of 2026-08-22 and before.
 */
const RULES = `
/beacon.js
/beacon?
/counters/pages?
/counter/views/*
/counter/?type=
/counter.js.php
/count?type=
/count.js
/pageview?key=
?type=pageview&
/hit.gif?hash=
/hit?t=*&__seed=
/hit?aff_id=$xmlhttprequest
/hit?time=
/hit/?r=
/hit/tracker
.com/hit$ping
/hits/logger?
/stats.*/hits/*
/stats/?js
/stats/page-view
/stats/pageview
/stat.js?
/pixel.gif?
/v1/pixel?
/v1/page-hit
/api/v1/stat?
/analytics/hit
/tracker.js
`

const engine = FiltersEngine.parse(RULES)

/** Whether a page of another site may load an address. */
function isBlocked(url: string, type: 'script' | 'stylesheet' | 'image' | 'xmlhttprequest'): boolean {
  return engine.match(Request.fromRawDetails({ url, type, sourceUrl: 'https://blog.example/about' })).match
}

describe.each(['https://example.com', 'https://example.com/counter'])('With the address %s', (address) => {
  it.each(['page_view', 'pages', 'views', 'hits', 'pageview'])(
    'no rule for every host names what a page of the type %s loads',
    (type) => {
      const pixel = `${address}/hit.gif?key=%2Fblog%2Fhello&type=${type}`
      const urls = {
        image: [
          pixel,
          `${address}/badge/${type}/%2Fblog%2Fhello.svg?label=views`,
          `${address}/hit/${type}/%2Fblog%2Fhello.svg?label=views`,
          `${address}/badge/${type}.svg?prefix=%2F`,
          `${address}/chart/${type}/%2Fblog%2Fhello.svg?period=90d`,
          `${address}/chart/${type}.svg?prefix=%2F`,
        ],
        xmlhttprequest: [
          pixel.replace('hit.gif', 'hit'),
          pixel.replace('hit.gif', 'hit').replace('&type', '&automated=1&type'),
          `${address}/v1/shown?${new URLSearchParams({ of: `${type} /blog/hello` })}`,
          `${address}/v1/types/${type}`,
          `${address}/d/${type}/app.zip`,
        ],
        script: [`${address}/slotted.js`, address + SCRIPT],
        stylesheet: [address + STYLE],
      } as const
      for (const [kind, of] of Object.entries(urls)) {
        expect(of.filter((url) => isBlocked(url, kind as keyof typeof urls))).toEqual([])
      }
    },
  )

  it('no rule for every host names a release of the script', async () => {
    for (const { version } of await readReleases())
      expect(isBlocked(`${address}/slotted-${version}.js`, 'script')).toBe(false)
  })

  it.each([
    ['/beacon.js', 'script'],
    ['/v1/counters/pages?key=%2Fa', 'xmlhttprequest'],
    ['/hit?type=pageview&key=%2Fa', 'xmlhttprequest'],
  ] as const)('a rule names %s, so the script is not there and does not ask it', (path, kind) => {
    expect(isBlocked(address + path, kind)).toBe(true)
  })
})
