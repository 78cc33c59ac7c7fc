import { expect, it, onTestFinished } from 'vitest'
import { startDemoSite } from '../../local/demo-site.ts'

it('The demo site serves its pages, with the address of the counter in them, and its files', async () => {
  const site = await startDemoSite({ counter: 'http://counter.test', port: 0 })
  onTestFinished(() => site.stop())
  for (const path of ['/', '/article?from=mail', '/app/', '/app/anything', '/downloads']) {
    const response = await fetch(site.url + path)
    expect([path, response.status, response.headers.get('Content-Type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ])
    const html = await response.text()
    expect(html).toContain('src="http://counter.test/slotted.js"')
    expect(html).not.toContain('{{')
  }
  expect(await (await fetch(`${site.url}/files/map.txt`)).text()).toBe('North is up.\n')
  expect((await fetch(`${site.url}/style.css`)).headers.get('Content-Type')).toContain('text/css')
  for (const path of ['/nothing', '/../package.json', '/%2e%2e/package.json', '//', '/%', '/index.html']) {
    expect((await fetch(site.url + path)).status, path).toBe(404)
  }
})

it('A port in use is an error', async () => {
  const site = await startDemoSite({ counter: 'http://counter.test', port: 0 })
  onTestFinished(() => site.stop())
  await expect(startDemoSite({ counter: 'http://counter.test', port: site.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
