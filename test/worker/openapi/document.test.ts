import { env as configured } from 'cloudflare:workers'
import * as v from 'valibot'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { localCounters } from '../../../local/worker/local-counters.ts'
import { contracts } from '../../../scripts/openapi/contracts.ts'
import { openApiDocument } from '../../../scripts/openapi/document.ts'
import { type DocumentExample, operationExamples } from '../../../scripts/openapi/document-examples.ts'
import { problemDocument } from '../../../scripts/openapi/problems.ts'
import { wholeApp } from '../../../src/app.ts'
import type { Bindings } from '../../../src/config/read-settings.ts'
import { type AppEnv, Hono } from '../../../src/http/hono.ts'
import { check } from '../../../src/routes/check.ts'
import { dashboard } from '../../../src/routes/dashboard.ts'
import { stats } from '../../../src/routes/stats.ts'
import type { ProblemCode } from '../../../src/service/problem.ts'
import { PROBLEMS } from '../../../src/service/problem.ts'
import { freshDatabase } from '../../harness/database.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { TestWorker, TOKEN } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'

/** What the Worker answers. test/local/assets.test.ts tests the files. */
const document = openApiDocument(contracts())
const examples = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => operationExamples(path, method, operation)),
)
const operations = new Map(contracts().map((each) => [each.id, each]))

let worker: TestWorker
beforeAll(async () => {
  worker = await workerFor()
})
beforeEach(() => bePatient())

/** The Worker of wrangler.toml, open to every page, on a new database, with a private type added. */
async function workerFor(overrides: Bindings = {}, faults: { action: 'error'; errno: number; times: number }[] = []) {
  const db = await freshDatabase()
  if (faults.length > 0) await db.behave({ faults })
  const shipped = localCounters((configured as Bindings).COUNTERS, 'https://files.example.com/dist/')
  const page_view = { ...shipped.page_view, counting_badge: true }
  const COUNTERS = { ...shipped, page_view, secret: { record_type: 3 } }
  return new TestWorker(db.url, { COUNTERS, ...overrides })
}

/** Sends an example as a reader of the document would: with the token if the document requires it. */
function send(to: TestWorker, example: DocumentExample): Promise<Response> {
  const { method, path, headers, body, contentType, status } = example
  return to.fetch(path, {
    method,
    headers: {
      ...headers,
      ...(contentType !== undefined && { 'Content-Type': contentType }),
      ...(status !== 401 && { Authorization: `Bearer ${TOKEN}` }),
    },
    ...(body !== undefined && method !== 'GET' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The paths at which two JSON values have different members. Null and empty lists match anything. */
function differences(a: unknown, b: unknown, at = ''): string[] {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === 0 || b.length === 0 ? [] : differences(a[0], b[0], `${at}[]`)
  }
  if (a === null || b === null) return []
  if (typeof a !== typeof b || Array.isArray(a) !== Array.isArray(b)) return [at]
  if (typeof a !== 'object' || typeof b !== 'object') return []
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => {
    if (!Object.hasOwn(a, name) || !Object.hasOwn(b, name)) return [`${at}.${name}`]
    return differences(a[name as keyof typeof a], b[name as keyof typeof b], `${at}.${name}`)
  })
}

describe('Every example of the document', () => {
  it.each(examples.map((example) => [example.name, example] as const))(
    'gets the documented response: %s',
    async (_, example) => {
      const response = await send(worker, example)
      expect(response.status).toBe(example.status)
      for (const [name, value] of Object.entries(example.says)) expect(response.headers.get(name)).toBe(value)

      const described = document.paths[pathOf(example)]![example.method.toLowerCase()]!.responses[example.status]!
      const contentType = response.headers.get('Content-Type')?.split(';')[0] ?? null
      expect(contentType).toBe(Object.keys((described.content as object | undefined) ?? {})[0] ?? null)
      for (const name of Object.keys((described.headers as object | undefined) ?? {})) {
        if (name === 'Retry-After') continue
        if (name === 'Idempotent-Replayed') {
          expect(response.headers.has(name)).toBe(name in example.says)
          continue
        }
        // Hits are counted before the middlewares, and have a request id only if they fail.
        expect(response.headers.has(name), `the header ${name}`).toBe(true)
      }
      if (contentType === 'application/problem+json') {
        const problem = v.parse(problemDocument, await response.json())
        expect({ ...problem, requestId: '' }).toEqual({ ...(example.answer as object), requestId: '' })
      } else if (contentType === 'application/json') {
        const { schema } = operations.get(example.operation.operationId)!.answers[example.status]!
        const answer = v.parse(schema!, await response.json())
        if (example.answer !== undefined) expect(differences(answer, example.answer)).toEqual([])
      }
    },
  )

  it('of a counting path counts what it shows', async () => {
    const fresh = await workerFor()
    for (const example of examples) if (example.operation.tags[0] === 'Counting') await send(fresh, example)
    const counted = await fresh.api('GET', '/v1/counters/page_view?key=/blog/hello&key=/a')
    // First counter: two hits, the pixel, and the increment with a key. Second counter: the list.
    expect(await counted.json()).toMatchObject({ counters: [{ count: 4 }, { count: 1 }] })
  })
})

describe('Every problem that the document lists for an operation', () => {
  const described = examples.filter(
    ({ name, operation }) => name === `${operation.operationId}: ${firstName(operation)}`,
  )

  it.each(described.map((example) => [example.operation.operationId, example] as const))(
    'can occur: %s',
    async (_, example) => {
      for (const code of codesOf(example)) {
        const provoke = PROVOKED[code]
        if (provoke === undefined) continue
        const sent = provoke(example)
        const response = await send(worker, sent)
        const { pathname } = new URL(sent.path, 'https://counter.test')
        expect([code, response.status, pathname]).toEqual([code, PROBLEMS[code].status, pathname])
        expect(v.parse(problemDocument, await response.json()).code).toBe(code)
      }
    },
  )

  it.each(described.map((example) => [example.operation.operationId, example] as const))(
    'is listed, for any error of a request: %s',
    async (_, example) => {
      const given = [...codesOf(example), 'not_found', 'method_not_allowed']
      for (const provoke of Object.values(PROVOKED)) {
        const response = await send(worker, provoke(example))
        if (response.headers.get('Content-Type') !== 'application/problem+json') continue
        expect(given).toContain((await response.json<{ code: string }>()).code)
      }
    },
  )

  it('includes unknown query parameters, on every path of the API', async () => {
    for (const example of described.filter(({ path }) => path.startsWith('/v1/'))) {
      const path = `${example.path}${example.path.includes('?') ? '&' : '?'}unheard_of=1`
      const response = await send(worker, { ...example, path })
      expect([example.name, response.status]).toEqual([example.name, 422])
      const { errors } = v.parse(problemDocument, await response.json())
      expect(errors).toEqual([{ field: 'unheard_of', message: 'is not a parameter of this path' }])
    }
  })

  it('of the database can occur', async () => {
    const page_view = { record_type: 1, public: true, allowed_origins: ['*'] }
    // Whatever else is wrong, downloads redirect if they can.
    const download = { record_type: 2, redirect_to: '/files/' }
    const oneWrong = { page_view, download, secret: { record_type: 0 } }
    const faulty = {
      // Refused credentials are certain. After a less certain error, a part of a request may have been counted.
      database_unavailable: await workerFor({}, [{ action: 'error', errno: 1045, times: 10_000 }]),
      database_not_ready: await workerFor({}, [{ action: 'error', errno: 1146, times: 10_000 }]),
      configuration_invalid: await workerFor({ DATABASE_URL: '', API_TOKEN: '', COUNTERS: oneWrong }),
    }
    for (const example of described) {
      for (const [code, blind] of Object.entries(faulty) as [keyof typeof faulty, TestWorker][]) {
        if (!codesOf(example).has(code)) continue
        // Nothing may be answered from a cache.
        // A download of a file is redirected nevertheless.
        const path = example.path.replace(/^\/d\/download\/.*/, '/d/download/app-latest.zip')
        const response = await send(blind, { ...example, path })
        expect([example.name, (await response.json<{ code: string }>()).code]).toEqual([example.name, code])
        expect(response.status).toBe(503)
      }
    }
  })

  it('of the limit of readings can occur, and is listed wherever it can', async () => {
    const limited = await workerFor({ READER_LIMIT: { limit: async () => ({ success: false }) } })
    for (const example of described) {
      const headers = { ...example.headers, 'CF-Connecting-IP': '203.0.113.7' }
      const response = await send(limited, { ...example, headers, status: 401 })
      const isProblem = response.headers.get('Content-Type') === 'application/problem+json'
      const code = isProblem ? (await response.json<{ code: string }>()).code : null
      const isListed = codesOf(example).has('too_many_requests')
      expect([example.name, code === 'too_many_requests']).toEqual([example.name, isListed])
    }
  })

  it('of the session can occur: another site sends a request that changes something', async () => {
    const Cookie = await sessionCookie(worker)
    for (const example of described) {
      const headers = { ...example.headers, Cookie, 'Sec-Fetch-Site': 'cross-site' }
      const response = await send(worker, { ...example, headers, status: 401 })
      const described = codesOf(example).has('cross_site_request')
      expect([example.name, response.status === 403]).toEqual([example.name, described])
      if (described) expect((await response.json<{ code: string }>()).code).toBe('cross_site_request')
    }
  })

  it('of the database does not keep the status from answering 200', async () => {
    const { path, method, answers } = operations.get('status')!
    for (const errno of [1045, 1146, 2003]) {
      const blind = await workerFor({}, [{ action: 'error', errno, times: 10_000 }])
      const response = await blind.api(method.toUpperCase(), path)
      const answer = v.parse(answers[200]!.schema!, await response.json())
      expect([response.status, answer]).toMatchObject([
        200,
        { healthy: false, pendingSlots: null, verification: { agreedAt: null, mismatches: null }, deadBatches: null },
      ])
    }
  })

  it('has a status, and each with a status is listed somewhere', () => {
    const met = new Set(described.flatMap((example) => [...codesOf(example)]))
    const anywhere: ProblemCode[] = ['method_not_allowed']
    expect([...met, ...anywhere].sort()).toEqual(Object.keys(PROBLEMS).sort())
  })
})

describe('The document and the routes', () => {
  it('agree: the document describes every route, and nothing else', async () => {
    const described = new Set(
      contracts().map(({ method, path }) => {
        const served = path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/^(\/(?:badge|chart|d|hit)\/:type).*/, '$1/*')
        return `${method.toUpperCase()} ${served}`
      }),
    )
    // Not described: preflights, middlewares and pages.
    const pagesOnly = new Hono<AppEnv>()
    for (const add of [dashboard, check, stats]) add(pagesOnly)
    const pages = new Set(pagesOnly.routes.map(({ method, path }) => `${method} ${path}`))
    const served = wholeApp()
      .routes.filter(({ method }) => method !== 'ALL' && method !== 'OPTIONS')
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !pages.has(route))
    expect([...new Set(served)].sort()).toEqual([...described].sort())
    const all = new Set(wholeApp().routes.map(({ method, path }) => `${method} ${path}`))
    expect([...pages].filter((route) => !all.has(route))).toEqual([])
    expect([...pages].filter((route) => described.has(route) || / \/(v1|badge|chart|d)\//.test(route))).toEqual([])
  })

  it('agree that public counters are read with CORS', () => {
    const preflights = new Set(
      wholeApp()
        .routes.filter(({ method }) => method === 'OPTIONS')
        .map(({ path }) => path),
    )
    const publicReadings = contracts().filter(({ access }) => access === 'read-unless-public')
    expect(publicReadings.length).toBeGreaterThan(4)
    const paths = publicReadings.map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
    expect(paths.filter((path) => !preflights.has(path))).toEqual([])
  })

  it('agree about the methods of every path', async () => {
    for (const example of examples) {
      const methods = Object.keys(document.paths[pathOf(example)]!).map((method) => method.toUpperCase())
      const response = await worker.fetch(example.path.split('?')[0]!, { method: 'PROPFIND' })
      expect([example.path, response.status]).toEqual([example.path, 405])
      const allowed = response.headers.get('Allow')!.split(', ')
      expect(allowed.filter((method) => method !== 'OPTIONS' && method !== 'HEAD').sort()).toEqual(methods.sort())
    }
  })

  it('agree about which operations need the token', async () => {
    for (const example of examples) {
      const type = example.path.replace(/\/(page_view|download)(?=\/|\?|$)/, '/secret')
      const response = await send(worker, { ...example, path: type, status: 401 })
      const { access } = operations.get(example.operation.operationId)!
      const refused = access !== 'anyone' && (access !== 'read-unless-public' || !type.includes('/nothing'))
      expect([example.name, response.status === 401]).toEqual([example.name, refused])
    }
  })
})

/** Breaks a valid request so that it causes a problem. The other problems need faults, and have other tests. */
const PROVOKED: Partial<Record<ProblemCode, (example: DocumentExample) => DocumentExample>> = {
  malformed_body: (example) => ({ ...example, body: '{"by"', contentType: 'application/json', path: bare(example) }),
  malformed_key: (example) => ({
    ...example,
    path: example.path.replace(encodeURIComponent(example.params.key!), '%ff'),
  }),
  malformed_query: (example) => ({ ...example, path: `${bare(example)}?%ff=1` }),
  unauthorized: (example) => ({
    ...example,
    path: example.path.replace(/page_view|download/, 'secret'),
    status: 401,
  }),
  unknown_type: (example) => ({ ...example, path: example.path.replace(/page_view|download/, 'nothing') }),
  not_found: (example) => ({ ...example, path: `${bare(example)}//` }),
  body_too_large: (example) => ({
    ...example,
    path: bare(example),
    body: ' '.repeat(2 * 1024 * 1024),
    contentType: 'application/json',
  }),
  unsupported_media_type: (example) => ({ ...example, path: bare(example), body: 'a', contentType: 'text/csv' }),
  invalid_request: (example) =>
    example.body === undefined
      ? { ...example, path: `${bare(example)}${pathOf(example).endsWith('{key}') ? 'a'.repeat(513) : ''}?unheard_of=1` }
      : { ...example, path: bare(example), body: { unheard_of: 1 } },
}

function bare({ path }: DocumentExample): string {
  return path.split('?')[0]!
}

function pathOf({ operation }: DocumentExample): string {
  return operations.get(operation.operationId)!.path
}

function firstName({ operationId }: { operationId: string }): string {
  return Object.keys(operations.get(operationId)!.examples)[0]!
}

/** The problem codes that the document lists for the operation of an example. */
function codesOf({ operation }: DocumentExample): Set<ProblemCode> {
  const problems = Object.values(operation.responses).flatMap(({ content }) => {
    const { 'application/problem+json': problem } = (content ?? {}) as Record<string, { schema: unknown }>
    return problem === undefined ? [] : [problem.schema]
  }) as { allOf: [unknown, { properties: { code: { enum: ProblemCode[] } } }] }[]
  return new Set(problems.flatMap(({ allOf }) => allOf[1].properties.code.enum))
}
