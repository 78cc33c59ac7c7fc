import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { localCounters } from '../../../local/worker/local-counters.ts'
import { DEFAULT_COUNTERS } from '../../../src/config/read-types.ts'
import { startShippedWorker } from '../../harness/miniflare.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { builtWorker } from '../built-worker.ts'

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
}

/** Text as it was before it was put into HTML. */
function unescaped(text: string): string {
  const entities: Record<string, string> = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' }
  return text.replaceAll(/&[^;]+;/g, (entity) => entities[entity] ?? entity)
}

/** The examples of the page. */
function shownOn(html: string): Shown[] {
  const pattern =
    /<summary>([^<]*) <span class="status s\d">(\d+)<\/span><\/summary>\s*<p class="caption">curl<\/p>\s*<pre[^>]*><code class="curl">([^<]*)<\/code><\/pre>/g
  return [...html.matchAll(pattern)].map(([, summary, status, curl]) => ({
    summary: unescaped(summary!),
    status: Number(status),
    curl: unescaped(curl!),
  }))
}

describe('The page at /docs', () => {
  it('shows commands that get the responses it shows', async () => {
    const examples = shownOn(page)
    // Healthy, although nobody runs the crons.
    await fetch(`${worker.url}/v1/rollup`, { method: 'POST', headers: { Authorization: `Bearer ${TOKEN}` } })
    expect(examples.length).toBe(page.match(/class="curl"/g)!.length)
    for (const { summary, status, curl } of examples) {
      const { stdout } = await run('sh', ['-c', curl.replace('curl', 'curl -sS')], { env: { ...process.env, TOKEN } })
      expect([summary, /^HTTP\/1\.1 (\d+)/.exec(stdout)?.[1]]).toEqual([summary, String(status)])
    }
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
