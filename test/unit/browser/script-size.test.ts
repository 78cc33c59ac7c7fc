import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { buildDashboard } from '../../../scripts/assets/dashboard-bundle.ts'

// In bytes, gzipped.
const [MAX_SCRIPT, MAX_TOGETHER] = [8_192, 16_384]

it(`The pages have a script of at most ${MAX_SCRIPT} bytes, with the style ${MAX_TOGETHER}, gzipped`, async () => {
  const { script, style } = await buildDashboard()
  const [ofScript, ofStyle] = [script, style].map(({ text }) => gzipSync(text, { level: 9 }).length)
  expect(ofScript!).toBeLessThanOrEqual(MAX_SCRIPT)
  expect(ofScript! + ofStyle!).toBeLessThanOrEqual(MAX_TOGETHER)
})

it('Text has three sizes, which follow the size that the browser is set to', async () => {
  const { style } = await buildDashboard()
  const sizes = [...style.text.matchAll(/(?:--(?:small|normal|large)|font-size):([^;}]*)/g)].map(([, size]) =>
    size!.trim(),
  )
  expect(sizes.filter((size) => !/^(?:[\d.]*rem|var\(--(?:small|normal|large)\)|inherit)$/.test(size))).toEqual([])
})
