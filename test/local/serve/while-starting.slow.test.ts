import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { freePort } from '../../../local/processes/free-port.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { saying } from '../npm-script.ts'
import { Served, serveFolder } from './serve-script.ts'

// Starts of everything: on a busy machine, each takes a while.
it('Requests are answered 503 while serve starts, and a port that is in use is refused', {
  timeout: 300_000,
}, async () => {
  const { name } = await takeDatabase({ empty: true })
  const env = { MYSQL_URL: `${inject('mysqlUrl')}/${name}` }
  const served = new Served(await serveFolder(), await freePort(), env)
  const answer = () => served.view().catch(() => null)
  let first = await answer()
  while (first === null) {
    await setTimeout(20)
    first = await answer()
  }
  expect([first.status, first.headers.get('X-Hit'), first.headers.get('Retry-After')]).toEqual([
    503,
    'ignored; reason=database_unavailable',
    '5',
  ])
  expect(await first.json()).toMatchObject({ detail: 'The Worker is starting. Nothing was counted.' })
  expect(served.script.output).not.toContain('serve_started')
  await served.script.printed(/"event":"serve_started"/)
  expect((await served.view()).status).toBe(204)
  expect(await served.count('page_view')).toBe(1)

  const other = createServer()
  await once(other.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as { port: number }
  const refused = new Served(await serveFolder(), port, env)
  expect(await refused.script.outcome()).toEqual(saying(1, `Port ${port} is in use by another program`))
})
