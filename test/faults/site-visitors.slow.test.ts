import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { counterId } from '../../src/counters/counter-address.ts'
import { hash64 } from '../../src/counters/ids.ts'
import { fromAddress, hitOf, send } from './client.ts'
import { isAcknowledged } from './expected-counts.ts'
import { freshDatabase, nowAndThen, rollUpAll } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { LateNetwork } from './late-network.ts'
import { seededRandom } from './seeded-random.ts'
import { quiet } from './server-connections.ts'
import { checkRolledUp, readStoredCounts } from './stored-counts.ts'

const CLIENTS = 48
const VISITORS = 150
const PAGES = Array.from({ length: 12 }, (_, page) => `${page % 3 === 0 ? '/blog/' : '/docs/'}${page}`)
/** A visitor reads a page with this probability, and sends each hit twice. */
const READS = 0.5
/** Most milliseconds before a hit is sent again. */
const BACK_OFF_MS = 40
/** Visits after which an isolate dies. */
const UNTIL_KILLED = 400

// No window ends while the test runs.
const ONCE = { dedupe_seconds: 365 * 24 * 3_600 }
const SETTINGS = {
  COUNTERS: {
    view: { record_type: 1, allowed_origins: ['*'], also: 'visitor' },
    visitor: { record_type: 2, ...ONCE, also: 'section' },
    section: {
      record_type: 3,
      ...ONCE,
      visitors_of: 'prefix',
      prefixes: ['/blog/', '/docs/', '/docs/1'],
      also: 'site',
    },
    site: { record_type: 4, ...ONCE, visitors_of: 'site' },
  },
  PRUNING: { idempotency_hours: 365 * 24 },
  PLAN: 'paid',
}

it.each([1, 2].map((factor) => factor * inject('ranges')))(
  'With ranges = %i, a visitor counts once for the site, each prefix and each page, whatever is lost, late or killed',
  async (ranges) => {
    const db = await freshDatabase()
    const random = seededRandom()
    const network = await LateNetwork.start(db.url, random)
    network.late = 0.05
    const isolates = await Isolate.start(2, network.url, { ...SETTINGS, SHARDING: { ranges } })
    const visits = Array.from({ length: VISITORS }, (_, visitor) =>
      PAGES.flatMap((key) => (random.chance(READS) ? [{ address: `198.51.100.${visitor}`, key }] : [])),
    ).flat()
    const toSend = [...visits, ...visits].sort(() => random.fraction() - 0.5)
    const faults = [
      { action: 'cut-answer' as const },
      { action: 'cut-request' as const },
      { action: 'error' as const, errno: 1213 },
    ]
    await db.behave({
      latencyMs: 5,
      faults: faults.flatMap((fault) => nowAndThen({ ...fault, match: '^INSERT INTO' }, [1, 2, 4])),
    })

    const views = new Map(PAGES.map((key) => [key, { counted: 0, unknown: 0 }]))
    let acknowledged = 0
    let killed: Promise<void> | undefined
    const client = async () => {
      for (let visit = toSend.pop(); visit !== undefined; visit = toSend.pop()) {
        const { address, key } = visit
        const hit = fromAddress(address, hitOf({ type: 'view', key, by: 1 }))
        for (;;) {
          const fate = await send(random.pick(isolates).url, hit)
          if (fate === 'unknown') views.get(key)!.unknown++
          if (isAcknowledged(fate)) break
          await pause(random.between(1, BACK_OFF_MS))
        }
        views.get(key)!.counted++
        if (++acknowledged === UNTIL_KILLED) killed = isolates[0]!.replace()
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    await killed
    network.late = 0
    await db.behave()
    await Promise.all(isolates.map((isolate) => isolate.idle()))
    await network.settle()
    await quiet(db)

    const check = async () => {
      const stored = await readStoredCounts(db)
      const countOf = async (recordType: number, key: string) =>
        Number(stored.get(counterId({ recordType, recordId: await hash64(key) }))?.count)
      const visitors = (belongs: (key: string) => boolean) =>
        new Set(visits.filter(({ key }) => belongs(key)).map(({ address }) => address)).size
      for (const [key, { counted, unknown }] of views) {
        expect([key, await countOf(2, key)]).toEqual([key, visitors((read) => read === key)])
        const count = await countOf(1, key)
        expect(count).toBeGreaterThanOrEqual(counted)
        expect(count).toBeLessThanOrEqual(counted + unknown)
      }
      for (const prefix of SETTINGS.COUNTERS.section.prefixes) {
        expect([prefix, await countOf(3, prefix)]).toEqual([prefix, visitors((read) => read.startsWith(prefix))])
      }
      expect(await countOf(4, 'site')).toBe(visitors(() => true))
      expect(stored.size).toBe(2 * PAGES.length + SETTINGS.COUNTERS.section.prefixes.length + 1)
    }
    await check()
    await rollUpAll(db)
    await check()
    await checkRolledUp(db)
    console.log({
      visits: visits.length,
      late: network.arrived,
      unknown: [...views.values()].reduce((sum, { unknown }) => sum + unknown, 0),
    })
  },
)
