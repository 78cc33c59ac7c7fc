import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Workerd } from '../../local/worker/workerd.ts'
import { startBuiltWorker, TOKEN } from './built-worker.ts'
import { atEndOfSuite, PROJECT, stateDirectory } from './npm-script.ts'

const run = promisify(execFile)
const FILES = 'https://github.com/YOU/APP/releases/download/'

describe('docs/recipes.md', async () => {
  const page = await readFile(join(PROJECT, 'docs/recipes.md'), 'utf8')
  let workerd: Workerd
  const atEnd = atEndOfSuite()
  beforeAll(async () => {
    const COUNTERS = {
      page_view: { record_type: 1, public: true },
      download: { record_type: 2, public: true, redirect_to: FILES },
    }
    ;({ workerd } = await startBuiltWorker({ settings: { COUNTERS } }, atEnd))
    const counters = [
      { type: 'page_view', key: '/about', count: 7, day: '2026-11-16' },
      { type: 'page_view', key: '/a\n# Invented', count: 5, day: '2026-11-22' },
      { type: 'page_view', key: '/later', count: 9, day: '2026-11-23' },
    ]
    const { status } = await fetch(`${workerd.url}/v1/imports`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'recipes' },
      body: JSON.stringify({ counters }),
    })
    expect(status).toBe(200)
  })

  it('has an action that lists the last week, also with keys that strangers invented', async () => {
    const [, script = ''] = /run: \|\n((?: {10}.*\n)+)/.exec(page) ?? []
    const command = script.replace(/\$\(date .*?\)/, '2026-11-22').replace('https://YOUR-WORKER', workerd.url)
    const summary = join(await stateDirectory(atEnd), 'summary.md')
    await run('bash', ['-eo', 'pipefail', '-c', command], { env: { ...process.env, GITHUB_STEP_SUMMARY: summary } })
    expect(await readFile(summary, 'utf8')).toBe('    7\t/about\n    5\t/a\\n# Invented\n')
  })

  it('has addresses that the Worker knows', async () => {
    // A generator writes the key.
    const written = page.replaceAll(/\{\{.*?\}\}|\$\{.*?\}|<\?=.*?\?>/g, '/about')
    const addresses = [...written.matchAll(/https:\/\/YOUR-WORKER(\/(?:badge|d|hit\.gif)[^\s"')`]*)/g)].map(
      ([, path]) => path!,
    )
    const pixels = addresses.filter((path) => path.startsWith('/hit.gif'))
    for (const path of pixels) expect(path).toMatch(/^\/hit\.gif\?key=\/about&(amp;)?type=page_view$/)
    const answers = addresses.map(async (path) => {
      const { status, headers } = await fetch(workerd.url + path.replaceAll('&amp;', '&'), { redirect: 'manual' })
      return [status, headers.get('Location') ?? headers.get('Content-Type')].join(' ')
    })
    expect(new Set(await Promise.all(answers))).toEqual(
      new Set(['200 image/gif', '200 image/svg+xml; charset=utf-8', `302 ${FILES}v1.2.0/app.zip`]),
    )
  })
})
