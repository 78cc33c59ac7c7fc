import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { NpmScript, saying } from '../npm-script.ts'

const KEYS = Array.from({ length: 64 }, (_, i) => `/spam/${i}`)
/** The change that fails. Those beside it are answered after it. */
const FAILS_AT = 3

/** A Worker that lists 64 counters, and refuses one of the changes. */
async function refusingWorker() {
  const answers: number[] = []
  let asked = 0
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    if (request.method === 'GET') {
      return answer(200, { counters: KEYS.map((key) => ({ key, count: 1 })), next: null })
    }
    const fails = ++asked === FAILS_AT
    if (!fails) await once(server, 'refused')
    answers.push(fails ? 403 : 200)
    answer(answers.at(-1)!, fails ? { code: 'insufficient_scope', detail: 'The token may not do this.' } : {})
    if (fails) setTimeout(() => server.emit('refused'), 100)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers }
}

it.each([
  ['delete', [], 3, 'deleted'],
  ['rename', ['--to', '/ham/'], 3, 'renamed'],
])(
  'npm run %s --prefix stops at an error, awaits what it has begun, and says what was done',
  async (name, more, done, word) => {
    const { url, answers } = await refusingWorker()
    const args = ['run', '-s', name, '--', '--url', url, '--token', 'local', 'page_view', '--prefix', '/spam/', ...more]
    const outcome = await new NpmScript(args).outcome()
    expect(outcome).toMatchObject(
      saying(1, `Stopped: the Worker answered 403: The token may not do this. ${done} counters ${word}.`),
    )
    expect(answers.filter((status) => status === 200)).toHaveLength(done)
  },
)
