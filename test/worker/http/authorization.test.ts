import { beforeAll, describe, expect, it, vi } from 'vitest'
import { contracts } from '../../../scripts/openapi/contracts.ts'
import type { DocumentedOperation } from '../../../scripts/openapi/example.ts'
import { SCOPES, type Scope, sha256 } from '../../../src/tokens.ts'
import { MAX_TOKEN_ATTEMPTS } from '../../../src/visits/rate-limit.ts'
import { freshDatabase } from '../../harness/database.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { logged } from '../../harness/logged.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { TestWorker, TOKEN } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

/** The operations that need no token. A new one needs a line here. */
const OPEN = [
  'hit',
  'hitPixel',
  'download',
  'countingBadge',
  'shown',
  'badgeSvg',
  'badgeJson',
  'badgeTotalSvg',
  'badgeTotalJson',
  'chart',
  'chartTotal',
  'health',
  'docs',
]
/** The operations that are refused to a token that is limited to some types. */
const OF_ALL_TYPES = ['status', 'metrics', 'verify', 'rollUp', 'setup', 'makeTables']

const COUNTERS = {
  page_view: { record_type: 1, public: true },
  invoice: { record_type: 9, redirect_to: '/files/' },
  secret: { record_type: 10 },
}
const operations = contracts()
const guarded = operations.filter(({ access }) => access !== 'anyone')

let url: string
let worker: TestWorker
beforeAll(async () => {
  url = (await freshDatabase()).url
  const scopes = Object.fromEntries(
    SCOPES.flatMap((scope) => [
      [scope, scope],
      [`${scope}-some`, `${scope}:invoice`],
    ]),
  )
  worker = await workerWith(scopes)
})

/** A Worker with named tokens. */
async function workerWith(scopes: Record<string, string>, overrides = {}): Promise<TestWorker> {
  return new TestWorker(url, { COUNTERS, API_TOKENS: await tokenLines(scopes), ...overrides })
}

/** Sends the first example of an operation, for another type, with a token. */
async function send(operation: DocumentedOperation, token: string | undefined, type: string, to = worker) {
  const [example] = Object.values(operation.examples)
  const { params = {}, query = {}, headers = {}, body } = example!
  let path = operation.path
  for (const [name, value] of Object.entries(params)) {
    path = path.replace(`{${name}}`, encodeURIComponent(name === 'type' ? type : value))
  }
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as [string, string])),
  )
  const typed = JSON.stringify(body)?.replaceAll(/"type":"\w+"/g, `"type":"${type}"`)
  const response = await to.fetch(`${path}?${search}`, {
    method: operation.method.toUpperCase(),
    headers: {
      ...headers,
      ...('Idempotency-Key' in headers && { 'Idempotency-Key': crypto.randomUUID() }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: typed! }),
  })
  const answer = response.status < 400 ? undefined : await response.json<{ code: string; detail: string }>()
  return { status: response.status, headers: response.headers, code: answer?.code, detail: answer?.detail }
}

/** The status of an operation's first example. */
const statusOf = ({ examples }: DocumentedOperation) => Object.values(examples)[0]!.status ?? 200
const scopeOf = ({ access }: DocumentedOperation) => (access === 'read-unless-public' ? 'read' : (access as Scope))
const bearer = (token: string, address?: string) => ({
  Authorization: `Bearer ${token}`,
  ...(address !== undefined && { 'CF-Connecting-IP': address }),
})

describe('Every operation', () => {
  it('needs a token, unless it is listed here', () => {
    const open = operations.filter(({ access }) => access === 'anyone').map(({ id }) => id)
    expect(open.sort()).toEqual([...OPEN].sort())
  })

  it.each(guarded.map((operation) => [operation.id, operation] as const))(
    'is open to the scopes that include the one it needs, and to no others: %s',
    async (id, operation) => {
      for (const scope of SCOPES) {
        const { status, code, detail, headers } = await send(operation, tokenOf(scope), 'invoice')
        const may = scope === 'manage' || scope === scopeOf(operation)
        // `return=count` also reads, which a token that only counts may not.
        const alsoReads = id === 'increment' && scope === 'count'
        if (may && !alsoReads) expect([scope, status]).toEqual([scope, statusOf(operation)])
        else expect([scope, status, code]).toEqual([scope, 403, 'insufficient_scope'])
        if (may) continue
        expect(detail).toContain(`has the scope ${scope}`)
        expect(headers.get('WWW-Authenticate')).toContain(`error="insufficient_scope", scope="${scopeOf(operation)}"`)
      }
      expect((await send(operation, TOKEN, 'invoice')).status).toBe(statusOf(operation))
      for (const wrong of [undefined, 'wrong', `${tokenOf('manage')}x`, await sha256(tokenOf('manage'))]) {
        expect(await send(operation, wrong, 'invoice')).toMatchObject({ status: 401, code: 'unauthorized' })
      }
    },
  )

  it.each(guarded.map((operation) => [operation.id, operation] as const))(
    'is open to a token that is limited to types for these types only: %s',
    async (id, operation) => {
      const limited = tokenOf('manage-some')
      const { status } = await send(operation, limited, 'invoice')
      expect(status).toBe(OF_ALL_TYPES.includes(id) ? 403 : statusOf(operation))
      const other = await send(operation, limited, 'secret')
      expect([other.status, other.code]).toEqual([403, 'insufficient_scope'])
      expect(other.detail).toContain('“manage-some” is limited to invoice')
    },
  )

  it('that reads a public type needs no token, and looks at none', async () => {
    for (const operation of guarded.filter(({ access }) => access === 'read-unless-public')) {
      for (const token of [undefined, 'wrong', tokenOf('count'), tokenOf('read-some')]) {
        expect((await send(operation, token, 'page_view')).status).toBe(200)
      }
    }
  })
})

describe('A token', () => {
  it('that only counts learns the count of a public type, but not of a private one', async () => {
    const headers = bearer(tokenOf('count'))
    const add = (type: string, query = '') =>
      worker.fetch(`/v1/counters/${type}/counted${query}`, { method: 'POST', headers })
    expect((await add('page_view', '?return=count')).status).toBe(200)
    expect((await add('invoice', '?return=count')).status).toBe(403)
    expect((await add('invoice')).status).toBe(200)
    expect(await worker.count('invoice', 'counted')).toBe(1)
  })

  it('that is limited to a type changes nothing if a list names another one too', async () => {
    const counters = [
      { type: 'invoice', key: 'a', count: 5 },
      { type: 'secret', key: 'a', count: 5 },
    ]
    const increments = counters.map(({ type, key, count }) => ({ type, key, by: count }))
    const headers = { ...bearer(tokenOf('manage-some')), 'Idempotency-Key': 'mixed' }
    const refused = [
      await worker.api('POST', '/v1/increments', { increments }, headers),
      await worker.api('POST', '/v1/imports', { counters }, headers),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403])
    expect(await worker.count('invoice', 'a')).toBe(0)
  })

  it('is read as RFC 6750 says, and as nothing else', async () => {
    const ask = async (authorization: string) =>
      (await worker.fetch('/v1/status', { headers: { Authorization: authorization } })).status
    const value = tokenOf('read')
    for (const right of [`Bearer ${value}`, `bearer   ${value}`]) expect(await ask(right)).toBe(200)
    for (const wrong of [
      value,
      `Basic ${value}`,
      'Bearer',
      'Bearer ',
      `Bearer ${value} x`,
      `Bearer ${'x'.repeat(10_000)}`,
    ]) {
      expect(await ask(wrong), wrong).toBe(401)
    }
  })

  it('is revoked by removing its line, and the others stay valid', async () => {
    const fewer = await workerWith({ read: 'read' })
    const ask = async (name: string) => (await fewer.fetch('/v1/status', { headers: bearer(tokenOf(name)) })).status
    expect([await ask('read'), await ask('manage')]).toEqual([200, 401])
  })
})

describe('Attempts with unknown tokens', () => {
  const ask = (to: TestWorker, token: string, address?: string) =>
    to.fetch('/v1/status', { headers: bearer(token, address) })
  /** Sends wrong tokens until the network has no attempt left. */
  const useUp = async (to: TestWorker, address: string) => {
    const statuses = await Promise.all(
      Array.from({ length: 2 * MAX_TOKEN_ATTEMPTS }, async (_, i) => (await ask(to, `guess-${i}`, address)).status),
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(MAX_TOKEN_ATTEMPTS)
    expect(statuses.filter((status) => status === 429)).toHaveLength(MAX_TOKEN_ATTEMPTS)
  }
  /** Stops the clock 20 seconds after a full minute. */
  const freeze = () => {
    stopClock()
    vi.setSystemTime(Math.floor(Date.now() / 60_000) * 60_000 + 20_000)
  }

  it('are limited for each network, at the same time too, and say when to try again', async () => {
    freeze()
    const fresh = await workerWith({})
    await useUp(fresh, '2001:db8::1')
    const refused = await ask(fresh, 'guess', '2001:db8:0:1::2')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60'])
    expect(await refused.json()).toMatchObject({ code: 'too_many_attempts' })
    expect((await ask(fresh, 'guess', '2001:db8:0:100::1')).status).toBe(401)
    vi.setSystemTime(Date.now() + 40_000)
    expect((await ask(fresh, 'guess', '2001:db8::2')).status).toBe(401)
  })

  it('that guess the owner’s token are not told that they are right', async () => {
    freeze()
    const fresh = await workerWith({})
    await useUp(fresh, '192.0.2.1')
    expect((await ask(fresh, TOKEN, '192.0.2.1')).status).toBe(429)
    expect((await ask(fresh, TOKEN, '192.0.2.2')).status).toBe(200)
    // The owner's success elsewhere does not help those who guess.
    expect((await ask(fresh, TOKEN, '192.0.2.1')).status).toBe(429)
  })

  it('do not lock out named tokens, sessions, or an owner who was there before', async () => {
    freeze()
    const fresh = await workerWith({ ci: 'read' })
    const cookie = await sessionCookie(fresh)
    expect((await ask(fresh, TOKEN, '192.0.2.1')).status).toBe(200)
    const [attempts, one] = [MAX_TOKEN_ATTEMPTS - 1, '192.0.2.1']
    for (let i = 0; i < attempts; i++) expect((await ask(fresh, 'guess', one)).status).toBe(401)
    expect((await ask(fresh, 'guess', one)).status).toBe(429)
    expect((await ask(fresh, TOKEN, one)).status).toBe(200)
    expect((await ask(fresh, tokenOf('ci'), one)).status).toBe(200)
    const headers = { Cookie: cookie, 'CF-Connecting-IP': one }
    expect((await fresh.fetch('/v1/status', { headers })).status).toBe(200)
    // A request without a token attempts nothing.
    expect((await fresh.fetch('/v1/status', { headers: { 'CF-Connecting-IP': one } })).status).toBe(401)
  })

  it('are limited by the platform’s rate limit too, which all isolates of a place share', () =>
    inOnePeriod(async () => {
      const limit = { VISITOR_LIMIT: LIMIT_OF_FIVE }
      const isolates = await Promise.all([workerWith({ ci: 'read' }, limit), workerWith({ ci: 'read' }, limit)])
      const [one, other] = [`${unusedNetwork()}::1`, `${unusedNetwork()}::1`]
      const statuses: number[] = []
      for (let i = 0; i < 14; i++) statuses.push((await ask(isolates[i % 2]!, 'guess', one)).status)
      expect(statuses[0]).toBe(401)
      expect(statuses.at(-1)).toBe(429)
      expect((await ask(isolates[0]!, tokenOf('ci'), one)).status).toBe(200)
      expect((await ask(isolates[0]!, TOKEN, other)).status).toBe(200)
    }))

  it('are not limited where no address tells networks apart', async () => {
    const fresh = await workerWith({})
    for (let i = 0; i < 2 * MAX_TOKEN_ATTEMPTS; i++) expect((await ask(fresh, 'guess')).status).toBe(401)
    expect((await ask(fresh, TOKEN)).status).toBe(200)
  })
})

describe('A short API_TOKEN', () => {
  const short = () => new TestWorker(url, { API_TOKEN: 'short' })

  it('is a wrong setting, except on this machine', async () => {
    await logged(async () => {
      for (const path of ['/healthz', '/v1/status', '/']) {
        const response = await short().fetch(path, { headers: bearer('short') })
        expect([path, response.status]).toEqual([path, 503])
        const { code, errors } = await response.json<{ code: string; errors: { field: string }[] }>()
        expect([code, errors[0]?.field]).toEqual(['configuration_invalid', 'API_TOKEN'])
      }
    })
    const local = await short().fetchAt('http://127.0.0.1:8787', '/v1/status', { headers: bearer('short') })
    expect(local.status).toBe(200)
  })

  it('that was used on this machine does not serve a page that rebinds its name to it', async () => {
    const isolate = short()
    const statusAt = async (origin: string) =>
      (await isolate.fetchAt(origin, '/v1/status', { headers: bearer('short') })).status
    for (const origin of ['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787']) {
      expect([origin, await statusAt(origin)]).toEqual([origin, 200])
    }
    await logged(async () => expect(await statusAt('http://rebound.example:8787')).toBe(503))
    expect(await statusAt('http://127.0.0.1:8787')).toBe(200)
  })

  it('does not keep hits from being counted, and badges from being shown', async () => {
    expect((await short().fetch('/badge/page_view/a.svg')).status).toBe(200)
    expect((await short().hit('page_view', 'a')).headers.get('X-Hit')).toBe('counted')
  })
})
