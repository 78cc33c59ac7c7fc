import { describe, expect, it } from 'vitest'
import { Bots } from '../../../src/visits/bots.ts'
import { BOTS, PROGRAMS } from './download-agents.ts'

const BROWSERS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  '',
]
const CRAWLERS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
]
describe('bots', () => {
  it.each(BROWSERS)('do not include a person with %j', (agent) => {
    const bots = new Bots()
    for (const purpose of [undefined, 'download', 'image'] as const) expect(bots.has(agent, purpose)).toBe(false)
  })

  it.each(CRAWLERS)('include %j, for pages, downloads and images', (agent) => {
    const bots = new Bots()
    for (const purpose of [undefined, 'download', 'image'] as const) expect(bots.has(agent, purpose)).toBe(true)
  })

  it.each(PROGRAMS)('do not include a person who downloads with %s', (agent) => {
    expect(new Bots().has(agent, 'download')).toBe(false)
  })

  it.each(BOTS)('include %s among downloads', (agent) => {
    expect(new Bots().has(agent, 'download')).toBe(true)
  })

  it('include programs that request pages', () => {
    for (const agent of ['curl/8.5.0', 'npm/11.6.1 node/v24.9.0 linux x64', 'python-requests/2.32.3']) {
      const bots = new Bots()
      expect([bots.has(agent, 'download'), bots.has(agent), bots.has(agent)]).toEqual([false, true, true])
    }
  })

  it.each(['github-camo (876de43e)', 'go-camo', 'go-camo 2.7.2', 'Camo Asset Proxy 2.3.0'])(
    'does not take the image proxy %s for a bot, if it asks for an image',
    (agent) => {
      const bots = new Bots()
      expect([bots.has(agent, 'image'), bots.has(agent)]).toEqual([false, true])
    },
  )

  it.each(['Googlebot-Image/1.0', 'curl/8.17.0', 'GitHub-Hookshot/4f1c0a7', 'SomeBot (like github-camo)'])(
    'takes %s for a bot, whatever it asks for',
    (agent) => {
      expect(new Bots().has(agent, 'image')).toBe(true)
    },
  )
})
