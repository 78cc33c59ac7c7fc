import { describe, expect, it } from 'vitest'
import { buildDashboard } from '../../../scripts/assets/dashboard-bundle.ts'
import type { CounterType } from '../../../src/config/counter-types.ts'
import { readTypes } from '../../../src/config/read-types.ts'
import { counterPage } from '../../../src/views/dashboard/counter.ts'
import { overviewPage } from '../../../src/views/dashboard/overview.ts'
import { setupPage } from '../../../src/views/dashboard/setup.ts'
import { signInPage } from '../../../src/views/dashboard/sign-in.ts'

/** The limit for all pages and files of the dashboard together, without compression. */
const MAX_BYTES = 80_000

describe('The dashboard', () => {
  it(`has less than ${MAX_BYTES} bytes in all`, async () => {
    const settings = { public: true, public_page: true, allowed_origins: ['*'], prefixes: ['app-', 'site-'] }
    const tables = Array.from({ length: 20 }, (_, i) => [`type_${i}`, { ...settings, record_type: i + 1 }])
    const types = [...readTypes(Object.fromEntries(tables), [], []).types.values()]
    const [type] = types as [CounterType]
    const site = 'example.com'
    const ownVisits = { marked: false, next: '/' }
    const viewer = { base: '', site, types, ofAllTypes: true, mayChange: true, ownVisits }
    const parts = [
      ...Object.values(await buildDashboard()).map(({ text }) => text),
      String(await signInPage({ base: '', site, next: '/', message: 'That is not a token of this Worker.' })),
      String(await overviewPage(viewer, type, 'https://counter.example')),
      String(await setupPage(viewer, ['table slotted_counters'])),
      String(await counterPage(viewer, type, '/blog/hello', types.slice(1, 3))),
    ]
    const bytes = parts.map((part) => Buffer.byteLength(part))
    expect(bytes.reduce((sum, part) => sum + part)).toBeLessThan(MAX_BYTES)
    for (const part of bytes) expect(part).toBeGreaterThan(1_000)
  })

  it('loads nothing from another host', async () => {
    const { script, style } = await buildDashboard()
    // The namespace of SVG is never loaded.
    const hosts = [...`${script.text}${style.text}`.matchAll(/https?:\/\/[^\s"'`)]+/g)].map(([url]) => url)
    expect(hosts.filter((url) => url !== 'http://www.w3.org/2000/svg')).toEqual([])
    expect(style.text).not.toMatch(/@import|url\(/)
    expect(script.text).not.toMatch(/\beval\(|new Function|innerHTML|document\.cookie/)
    // Keeps only that somebody turned the shortcuts off, and what the next page says was done.
    expect(script.text.match(/localStorage/g)).toHaveLength(3)
    expect(script.text).toContain('no-shortcuts')
    expect(new Set(script.text.match(/sessionStorage\.\w+/g))).toEqual(
      new Set(['sessionStorage.setItem', 'sessionStorage.getItem', 'sessionStorage.removeItem']),
    )
  })
})
