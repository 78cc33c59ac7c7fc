import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { localCounters } from '../../../local/worker/local-counters.ts'
import { DEFAULT_COUNTERS } from '../../../src/config/read-types.ts'
import { startShippedWorker } from '../../harness/miniflare.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { builtWorker } from '../built-worker.ts'
import { beginning, ClientProject, unescaped } from './client-project.ts'

const run = promisify(execFile)
const TOKEN = 'a-token-for-tests'

let worker: { url: string }
let page: string
beforeAll(async () => {
  const script = await builtWorker()
  const { databaseUrl } = await takeDatabase()
  // Not as shipped: the page shows a counting badge too.
  const counters = { ...DEFAULT_COUNTERS, page_view: { ...DEFAULT_COUNTERS.page_view, counting_badge: true } }
  const settings = { COUNTERS: localCounters(counters) }
  const shipped = await startShippedWorker({ script, databaseUrl, apiToken: TOKEN, settings })
  worker = shipped
  page = await (await fetch(`${worker.url}/docs`)).text()
  return () => shipped.stop()
})

/** An example on the page. */
interface Shown {
  summary: string
  status: number
  curl: string
  client: string | undefined
}

/** The examples of the page. */
function shownOn(html: string): Shown[] {
  const pattern =
    /<summary>([^<]*) <span class="status s\d">(\d+)<\/span><\/summary>\s*<p class="caption">curl<\/p>\s*<pre[^>]*><code class="curl">([^<]*)<\/code><\/pre>\s*(?:<p class="caption">Typed client<\/p><pre[^>]*><code class="client">([^<]*)<\/code>)?/g
  return [...html.matchAll(pattern)].map(([, summary, status, curl, client]) => ({
    summary: unescaped(summary!),
    status: Number(status),
    curl: unescaped(curl!),
    client: client === undefined ? undefined : unescaped(client),
  }))
}

describe('The page at /docs', () => {
  it('shows commands that get the responses it shows', async () => {
    const examples = shownOn(page)
    expect(examples.length).toBe(page.match(/class="curl"/g)!.length)
    for (const { summary, status, curl } of examples) {
      const { stdout } = await run('sh', ['-c', curl.replace('curl', 'curl -sS')], { env: { ...process.env, TOKEN } })
      expect([summary, /^HTTP\/1\.1 (\d+)/.exec(stdout)?.[1]]).toEqual([summary, String(status)])
    }
  })

  it('shows calls of the typed client that compile under the strictest options and get the responses it shows', async () => {
    const examples = shownOn(page).filter(({ client }) => client !== undefined)
    expect(examples.length).toBe(page.match(/class="client"/g)!.length)
    const program = [
      beginning(page),
      'const statuses: number[] = []',
      ...examples.map(({ client }) => `{\n${client}\nstatuses.push(response.status)\n}`),
      'console.log(JSON.stringify(statuses))',
    ]
    const project = await ClientProject.of(program.join('\n'))
    expect(await project.check()).toBe('')
    expect(JSON.parse(await project.run({ TOKEN }))).toEqual(examples.map(({ status }) => status))
  })

  it('names every operation once and has no broken links', async () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
    expect(ids.length).toBe(new Set(ids).size)
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    expect(targets.filter((id) => !ids.includes(id))).toEqual([])
    const document = (await (await fetch(`${worker.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const operations = Object.values(document.paths).flatMap(
      (methods) => Object.values(methods) as { operationId: string }[],
    )
    expect(operations.map(({ operationId }) => operationId).filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('The typed client', () => {
  it('accepts valid requests and knows their responses and problems; counts are numbers of any size', async () => {
    const project = await ClientProject.of(`${beginning(page)}
const at = { type: 'download', key: encodeURIComponent('a/b c%ü') }
for (let i = 0; i < 3; i++) {
  const response = await client.v1.counters[':type'][':key'].$post({
    param: at,
    query: { return: 'count' },
    header: { 'Idempotency-Key': \`part-\${i}\` },
    json: { by: Number.MAX_SAFE_INTEGER },
  })
  if (!response.ok) throw new Error((await response.json()).detail)
  const { added, count } = await response.json()
  const known: [number, number | null | undefined] = [added, count]
}
const response = await client.v1.counters[':type'][':key'].$get({ param: at, query: { consistency: 'exact' } })
if (!response.ok) throw new Error((await response.json()).detail)
const { count, key, rolledUpAt } = await response.json()
const exact: number = count
const when: string | null = rolledUpAt

const refused = await client.v1.counters[':type'].$get({ param: { type: 'nothing' }, query: { key: ['a'] } })
if (refused.ok) throw new Error('There is no such type.')
const { code, status } = await refused.json()
const decided: 'unknown_type' | undefined = code === 'unknown_type' ? code : undefined
console.log(JSON.stringify([typeof exact, exact, key, when, decided, status]))
`)
    expect(await project.check()).toBe('')
    expect(JSON.parse(await project.run({ TOKEN }))).toEqual([
      'number',
      3 * Number.MAX_SAFE_INTEGER,
      'a/b c%ü',
      null,
      'unknown_type',
      404,
    ])
    const text = await (await fetch(`${worker.url}/v1/counters/download/a%2Fb%20c%25%C3%BC`)).text()
    expect(text).toContain(`"count":${3n * BigInt(Number.MAX_SAFE_INTEGER)},`)
  })
})
