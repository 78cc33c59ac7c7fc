import { describe, expect, it } from 'vitest'
import type { Bindings } from '../../../src/config/read-settings.ts'
import { logged } from '../../harness/logged.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import {
  areApart,
  PARTS,
  type Part,
  RIGHT,
  WRONG_SETTINGS,
  type WrongSetting,
  withWrong,
  wrongSecrets,
} from '../../harness/wrong-settings.ts'

const { db, worker } = sharedWorker()
const lines = { writer: await tokenLines({ writer: 'count:page_view' }), reader: await tokenLines({ reader: 'read' }) }
const API_TOKENS = `${lines.writer}\n${lines.reader}`
const ALL = [...WRONG_SETTINGS, ...wrongSecrets(lines)]

let visits = 0

/** A Worker with wrong settings. */
function workerWith(wrong: readonly WrongSetting[]): TestWorker {
  const { DATABASE_URL, API_TOKEN } = worker.env
  return new TestWorker('', withWrong({ ...RIGHT, DATABASE_URL, API_TOKEN, API_TOKENS }, wrong) as Bindings)
}

/** The parts that work: each is used once, by a new visitor with a new key. */
async function workingParts(wrong: TestWorker): Promise<Part[]> {
  const key = `k${visits++}`
  const headers = { 'CF-Connecting-IP': `2001:db8:${visits.toString(16)}::1`, Origin: 'https://blog.example' }
  const counted = async (type: number) =>
    db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters WHERE record_type = ?', [type])
  const before = { visitors: await counted(3), downloads: await counted(2) }
  const bearer = (name: string) => ({ Authorization: `Bearer ${tokenOf(name)}`, 'Content-Type': 'application/json' })
  const [hit, download, written, read] = await Promise.all([
    wrong.fetch(`/hit?type=page_view&key=${key}`, { method: 'POST', headers }),
    wrong.fetch(`/d/download/${key}`, { headers }),
    wrong.fetch(`/v1/counters/page_view/${key}`, { method: 'POST', headers: bearer('writer'), body: '{"by":1}' }),
    wrong.fetch('/v1/search/page_view?prefix=a', { headers: bearer('reader') }),
  ])
  const works: Record<Part, boolean> = {
    view: hit.headers.get('X-Hit') === 'counted',
    visitor: (await counted(3)) === before.visitors + 1n,
    // A slow count is not awaited by the redirect.
    download: (await counted(2)) === before.downloads + 1n,
    redirect: download.headers.get('Location') === `https://files.example/${key}`,
    writer: written.status === 200,
    reader: read.status !== 401,
  }
  return PARTS.filter((part) => works[part])
}

const rest = (wrong: readonly WrongSetting[]) =>
  PARTS.filter((part) => wrong.every(({ stops }) => !stops.includes(part)))

describe('With a wrong setting', () => {
  it('everything that it does not affect still counts, and status, health and log name it', {
    timeout: 120_000,
  }, async () => {
    expect(ALL.length).toBeGreaterThan(50)
    expect(await workingParts(workerWith([]))).toEqual(PARTS)
    for (const wrong of ALL) {
      const mistaken = workerWith([wrong])
      const log = await logged(async () => {
        expect([wrong.field, await workingParts(mistaken)]).toEqual([wrong.field, rest([wrong])])
        const token = wrong.field === 'API_TOKEN' ? tokenOf('reader') : (worker.env.API_TOKEN as string)
        const status = await mistaken.fetch('/v1/status', { headers: { Authorization: `Bearer ${token}` } })
        const { problems } = await status.json<{ problems: { code: string; detail: string }[] }>()
        const detail = expect.stringMatching(
          new RegExp(`^${wrong.field.replaceAll('.', '\\.')} (must|is|needs|cannot)`),
        )
        expect([wrong.field, problems]).toEqual([
          wrong.field,
          expect.arrayContaining([{ code: 'wrong_setting', detail }]),
        ])
        const health = await mistaken.fetch('/healthz')
        const { code, errors } = await health.json<{ code: string; errors: { field: string }[] }>()
        expect([health.status, code]).toEqual([503, 'configuration_invalid'])
        expect(errors.map(({ field }) => field)).toContain(wrong.field)
      })
      expect(log).toContainEqual(expect.objectContaining({ event: 'wrong_settings' }))
    }
  })

  it('a second one stops only what it affects itself', { timeout: 120_000 }, async () => {
    const pairs = ALL.map((one, i) => [one, ALL[(i + 23) % ALL.length]!] as const)
    const apart = pairs.filter(([one, other]) => areApart(one, other))
    expect(apart.length).toBeGreaterThan(50)
    await logged(async () => {
      for (const pair of apart) {
        const fields = pair.map(({ field }) => field)
        expect([fields, await workingParts(workerWith(pair))]).toEqual([fields, rest(pair)])
      }
    })
  })
})
