import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cronAt, startCron } from '../../../local/cron.ts'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'

const EVERY = '*/1 * * * *'

/** A turn of the event loop. The fake clock does not affect it. */
const moment = () => new Promise((resolve) => setImmediate(resolve))

/** Waits until something can be read of a list. Unlike `expect.poll`, it does not set the fake clock forward. */
const until = async (isReached: () => boolean) => {
  while (!isReached()) await moment()
}

/** Uses a server in place of `wrangler dev`, and a fake clock. */
describe('The local cron', () => {
  let server: Server
  let url: string
  let asked: URL[]
  let said: string[]
  let stop: () => Promise<void>
  let answer: (response: ServerResponse) => void

  beforeEach(async () => {
    asked = []
    said = []
    answer = (response) => response.end('{"outcome":"ok","noRetry":false}')
    server = createServer((request, response) => {
      asked.push(new URL(request.url!, url))
      answer(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: new Date('2026-11-20T10:15:59.500Z') })
  })
  afterEach(async () => {
    await stop()
    vi.useRealTimers()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const start = (...expressions: string[]) => {
    stop = startCron(cronAt(`${url}/cdn-cgi/handler/scheduled`), expressions, (line) => said.push(line))
  }
  /** Lets time pass, and waits for the runs that are asked for then: so many since the start, and no more. */
  const pass = async (milliseconds: number, requests: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds)
    await until(() => asked.length >= requests)
    expect(asked).toHaveLength(requests)
  }
  const runs = () => asked.map(({ searchParams }) => `${searchParams.get('time')} ${searchParams.get('cron')}`)
  const at = (time: string, cron: string) => `${Date.parse(`2026-11-20T${time}Z`)} ${cron}`

  it('fires each expression at its minutes, in UTC, and reports nothing if all is well', async () => {
    start(EVERY, '17 * * * *')
    expect(asked).toEqual([])
    await pass(600, 1)
    expect(runs()).toEqual([at('10:16:00', EVERY)])
    await pass(60_000, 3)
    expect(runs().slice(1).sort()).toEqual([at('10:17:00', EVERY), at('10:17:00', '17 * * * *')].sort())
    await pass(60_000, 4)
    expect(runs()[3]).toBe(at('10:18:00', EVERY))
    await stop()
    expect(said).toEqual([])
  })

  it('rolls up at once, and then each minute', async () => {
    start(ROLL_UP_CRON)
    await pass(0, 1)
    await pass(600, 2)
    expect(runs()).toEqual([at('10:15:00', ROLL_UP_CRON), at('10:16:00', ROLL_UP_CRON)])
  })

  it('names the minute at which a run was due, even if it is late', async () => {
    start(EVERY)
    vi.setSystemTime(new Date('2026-11-20T10:16:03.210Z'))
    await pass(600, 1)
    expect(runs()).toEqual([at('10:16:00', EVERY)])
  })

  it('calls the scheduled handler of wrangler, and asks for JSON', async () => {
    start('*/5 9-11 * * 1,5')
    await pass(300_000, 1)
    expect(asked[0]?.pathname).toBe('/cdn-cgi/handler/scheduled')
    expect(Object.fromEntries(asked[0]!.searchParams)).toEqual({
      cron: '*/5 9-11 * * 1,5',
      time: String(Date.parse('2026-11-20T10:20:00Z')),
      format: 'json',
    })
  })

  it('does not fire after it was stopped', async () => {
    start(EVERY)
    await pass(600, 1)
    await stop()
    await vi.advanceTimersByTimeAsync(3_600_000)
    await moment()
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['a run that threw', 500, '{"outcome":"exception","noRetry":false}', 'exception'],
    ['a run that took too long', 500, '{"outcome":"exceededCpu"}', 'exceededCpu'],
    ['an answer of another program', 503, '<h1>Your Worker is restarting</h1>', 'HTTP 503'],
    ['an empty answer', 502, '', 'HTTP 502'],
    ['JSON without an outcome', 404, '{"error":"not found"}', 'HTTP 404'],
    ['JSON that is not an object', 200, 'null', 'HTTP 200'],
  ])('reports %s', async (_, status, body, outcome) => {
    answer = (response) => response.writeHead(status).end(body)
    start(EVERY)
    await vi.advanceTimersByTimeAsync(600)
    await until(() => said.length > 0)
    expect(said).toEqual([`Cron ${EVERY}: ${outcome}`])
  })

  it('reports a Worker that cannot be reached, and continues', async () => {
    answer = (response) => response.destroy()
    start(EVERY)
    await vi.advanceTimersByTimeAsync(600)
    await until(() => said.length > 0)
    expect(said).toEqual([expect.stringMatching(/^Cron .* could not reach the Worker: /)])
    answer = (response) => response.end('{"outcome":"ok"}')
    await pass(60_000, 2)
    await stop()
    expect(said).toHaveLength(1)
  })

  it('waits for runs in progress when it is stopped, and still reports how they ended', async () => {
    const open: ServerResponse[] = []
    answer = (response) => open.push(response)
    start(EVERY, '16 * * * *')
    await vi.advanceTimersByTimeAsync(600)
    await until(() => open.length >= 2)
    expect(open).toHaveLength(2)
    let stopped = false
    const stopping = stop().then(() => {
      stopped = true
    })
    open[0]!.end('{"outcome":"ok"}')
    for (let i = 0; i < 100; i++) await moment()
    expect(stopped).toBe(false)
    open[1]!.end('{"outcome":"exception"}')
    await stopping
    expect(said).toEqual([expect.stringMatching(/^Cron .*: exception$/)])
  })
})
