import { expect, it } from 'vitest'
import { TestWorker } from '../../harness/worker.ts'

const DATABASE = 'https://user:password@nowhere.invalid'
const worker = new TestWorker(DATABASE)

it('The documentation has commands for the requested host', async () => {
  const response = await worker.fetchAt('https://counter.example', '/docs')
  const page = await response.text()
  expect(page).toContain('curl -i &#39;https://counter.example/v1/')
  expect(page).not.toContain('YOUR-WORKER')
  expect(response.headers.get('X-Request-Id')).not.toBeNull()
  const policy = /^default-src 'none'; script-src 'self'; style-src 'sha256-[^']+';(?!.*unsafe)/
  expect(response.headers.get('Content-Security-Policy')).toMatch(policy)
})

it('The documentation does not repeat a host that a shell would interpret', async () => {
  const page = await (await worker.fetchAt('http://$(id).test', '/docs')).text()
  expect(page).not.toContain('$(id)')
  expect(page).toContain('curl -i &#39;https://YOUR-WORKER/v1/')
})

it('Without static assets there is no documentation', async () => {
  const bare = new TestWorker(DATABASE, { ASSETS: undefined })
  expect((await bare.fetch('/docs')).status).toBe(404)
})
