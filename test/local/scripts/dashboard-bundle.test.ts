import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildDashboard } from '../../../scripts/assets/dashboard-bundle.ts'

/** The limit for the script and the style of a page. */
const MAX_GZIPPED = 20_000

describe('The dashboard', () => {
  it(`has less than ${MAX_GZIPPED} bytes of script and style on each page, gzipped`, async () => {
    const { script, counterScript, style } = await buildDashboard()
    const [ofPages, ofCounter, ofStyle] = [script, counterScript, style].map(
      ({ text }) => gzipSync(text, { level: 9 }).length,
    )
    expect(Math.max(ofPages!, ofCounter!) + ofStyle!).toBeLessThan(MAX_GZIPPED)
    expect(Math.min(ofPages!, ofCounter!, ofStyle!)).toBeGreaterThan(1_000)
  })

  it('loads nothing from another host', async () => {
    const { style, ...scripts } = await buildDashboard()
    const script = {
      text: Object.values(scripts)
        .map(({ text }) => text)
        .join(),
    }
    // The namespace of SVG is never loaded.
    const hosts = [...`${script.text}${style.text}`.matchAll(/https?:\/\/[^\s"'`)]+/g)].map(([url]) => url)
    expect(hosts.filter((url) => url !== 'http://www.w3.org/2000/svg')).toEqual([])
    expect(style.text).not.toMatch(/@import|url\(/)
    expect(script.text).not.toMatch(/\beval\(|new Function|innerHTML|document\.cookie/)
    expect(script.text).not.toMatch(/(local|session)Storage/)
  })
})
