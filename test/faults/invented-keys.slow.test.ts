import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { addressOfKey } from '../../src/counters/keys/key-address.ts'
import { toBigInt } from '../../src/database/values.ts'
import { AUTHORIZED, hitOf, incrementsOf, send, TOKEN } from './client.ts'
import { freshDatabase } from './faulty-database.ts'
import { inTurn } from './in-turn.ts'
import { Isolate } from './isolate.ts'

/** Hits of invented keys. `INVENTED_HITS=1000000` sends the million that the promise is about. */
const HITS = Number(process.env.INVENTED_HITS ?? 12_000)
/** Connections to each isolate over which they come. */
const CONNECTIONS = 64
/** Pages that exist, and the milliseconds between two honest hits. */
const PAGES = 200
const HONEST_EVERY_MS = 5
/** Honest hits that the attack goes on for, however fast it is. */
const LEAST_HONEST = 100
const DELETE = join(import.meta.dirname, '../../cli/move/delete.ts')
/** With the shipped budget, which other tests of this folder do not have. */
const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['*'], prefixes: ['/', '/page/'] } }
/** New keys of a type in a minute, as shipped. */
const BUDGET = 120
/** Milliseconds for the whole test: about 2,000 hits per second, and ten times that in hand. */
const TIMEOUT_MS = 60_000 + HITS * 5

it(`${HITS} hits of invented keys leave what the budget allows, honest hits are all counted, and one command cleans up`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const db = await freshDatabase()
  const isolates = await Isolate.start(2, db.url, { COUNTERS })
  const pages = Array.from({ length: PAGES }, (_, i) => ({ type: 'page_view' as const, key: `/page/${i}`, by: 1 }))
  expect(await send(isolates[0]!.url, incrementsOf(pages))).toBe('counted')

  let invented = 0
  let honest = 0
  let over = false
  const answers = new Map<string, number>()
  const attack = async (port: number) => {
    await inTurn(
      port,
      () =>
        !over && (invented < HITS || honest <= LEAST_HONEST)
          ? `POST /hit?type=page_view&key=%2Finvented%2F${invented++} HTTP/1.1`
          : null,
      (said) => answers.set(said, (answers.get(said) ?? 0) + 1),
    )
  }
  const visit = async () => {
    while (!over) {
      const page = pages[honest % PAGES]!
      // Any answer but `counted` fails the test.
      expect(await send(isolates[honest % 2]!.url, hitOf(page))).toBe('counted')
      honest++
      await new Promise((resolve) => setTimeout(resolve, HONEST_EVERY_MS))
    }
  }
  const visiting = visit().finally(() => {
    over = true
  })
  await Promise.all(isolates.flatMap(({ port }) => Array.from({ length: CONNECTIONS }, () => attack(port))))
  over = true
  await visiting
  for (const isolate of isolates) await isolate.idle()

  const counted = answers.get('counted') ?? 0
  expect(answers).toEqual(new Map(Object.entries({ counted, 'ignored; reason=key': invented - counted })))
  const number = async (sql: string) => toBigInt(Object.values((await db.execute(sql)).rows[0]!)[0])
  const minutes = await number('SELECT COUNT(*) FROM new_key_budgets')
  expect(Number(await number('SELECT MAX(taken) FROM new_key_budgets'))).toBe(BUDGET)
  expect(BigInt(counted)).toBeLessThanOrEqual(minutes * BigInt(BUDGET))
  expect(counted).toBeGreaterThanOrEqual(BUDGET)
  expect(await number('SELECT COUNT(*) FROM counters')).toBe(BigInt(PAGES + counted))

  const ids = await Promise.all(pages.map(({ key }) => addressOfKey({ recordType: 1 }, key)))
  const list = ids.map(({ recordId }) => recordId).join()
  const sum = (where: string) =>
    number(`SELECT COALESCE(SUM(count), 0) FROM slotted_counters WHERE record_id ${where} (${list})`)
  expect(await sum('IN')).toBe(BigInt(PAGES + honest))
  expect(await sum('NOT IN')).toBe(BigInt(counted))
  expect(honest).toBeGreaterThan(LEAST_HONEST)
  const totals = async () => {
    const answers = ['', '?prefix=/', '?prefix=/page/'].map(async (query) => {
      const answer = await fetch(`${isolates[0]!.url}/v1/types/page_view${query}`, { headers: AUTHORIZED })
      const { count, consistency } = (await answer.json()) as { count: number; consistency: string }
      return [consistency, count]
    })
    return Promise.all(answers)
  }
  const [all, pagesOnly] = [PAGES + honest + counted, PAGES + honest].map((count) => ['exact', count])
  expect(await totals()).toEqual([all, all, pagesOnly])

  const command = [DELETE, 'page_view', '--prefix', '/invented/', '--url', isolates[0]!.url, '--token', TOKEN]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  expect(stdout).toContain(`${counted} counters deleted.`)
  expect(await number('SELECT COUNT(*) FROM counters WHERE gone_hour IS NULL')).toBe(BigInt(PAGES))
  expect(await sum('NOT IN')).toBe(0n)
  expect(await sum('IN')).toBe(BigInt(PAGES + honest))
  expect(await totals()).toEqual([pagesOnly, pagesOnly, pagesOnly])
  console.log({ counted, minutes, honest })
})
