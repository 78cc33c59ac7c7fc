import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Executor } from '../../../src/database/database.ts'
import { withRetries } from '../../../src/database/retry-and-breaker.ts'
import { deleteOldSalts, offerSalt, readSalt, Salts } from '../../../src/visits/salts.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { GatedDatabase } from '../../harness/gated-database.ts'
import { logged } from '../../harness/logged.ts'

const DAY_SECONDS = 86_400
const HOUR = 3_600
/** Days since 1970 of 2026-11-22. */
const DAY = 20_779
const SALT = /^[0-9A-F]{64}$/

let db: TestDatabase
const pending: Promise<unknown>[] = []
const waitUntil = (work: Promise<unknown>) => void pending.push(work)
beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(pending.splice(0))
})

/** The salts of an isolate. */
const isolate = (on: Executor = db, longestWindow = HOUR) => new Salts(on, longestWindow)
/** The database as an isolate sees it, which tries again. */
const connected = () => withRetries(db.open({ deadlineMs: 10_000 }))
const days = async () => {
  const { rows } = await db.execute('SELECT day FROM visitor_salts ORDER BY day')
  return rows.map(({ day }) => Number(day))
}

describe('The salt of a day', () => {
  it('is random, and the same in all isolates that need it at the same instant', async () => {
    const gate = new GatedDatabase(db)
    const open = gate.close()
    const asked = Array.from({ length: 30 }, () => isolate(gate).of(DAY, waitUntil))
    open()
    const salts = await Promise.all(asked)
    expect(new Set(salts).size).toBe(1)
    expect(salts[0]).toMatch(SALT)
    expect(await days()).toEqual([DAY])
    expect(await isolate().of(DAY + 1, waitUntil)).not.toBe(salts[0])
  })

  it('is made by the first isolate, although many found none before', async () => {
    // All of them read before any writes.
    let readers = 0
    const { promise: allRead, resolve } = Promise.withResolvers<void>()
    const together: Executor = {
      async execute(sql, args) {
        const result = await db.execute(sql, args)
        if (++readers === 20) resolve()
        await allRead
        return result
      },
    }
    const salts = await Promise.all(Array.from({ length: 20 }, () => isolate(together).of(DAY, waitUntil)))
    expect(new Set(salts)).toEqual(new Set([await readSalt(db, DAY)]))
    expect(await days()).toEqual([DAY])
  })

  it('is asked for once by an isolate, however many requests need it', async () => {
    await isolate().of(DAY, waitUntil)
    const gate = new GatedDatabase(db)
    const open = gate.close()
    const one = isolate(gate)
    const asked = Array.from({ length: 200 }, () => one.of(DAY, waitUntil))
    open()
    expect(new Set(await Promise.all(asked)).size).toBe(1)
    for (let i = 0; i < 100; i++) await one.of(DAY, waitUntil)
    expect(gate.sent).toHaveLength(1)
  })

  it('is still held when another day is asked for, until its windows are over', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: DAY * DAY_SECONDS * 1_000 })
    const gate = new GatedDatabase(db)
    const one = isolate(gate, 3 * DAY_SECONDS)
    const at = async (day: number, salts: number[]) => {
      vi.setSystemTime(day * DAY_SECONDS * 1_000)
      for (const salt of salts) await one.of(salt, waitUntil)
      return gate.sent.splice(0).length
    }
    expect(await at(DAY, [DAY, DAY - 2])).toBe(6)
    // Two types, one with a long window: no statement for every hit.
    expect(await at(DAY, [DAY, DAY - 2, DAY, DAY - 2])).toBe(0)
    expect(await at(DAY + 1, [DAY + 1, DAY - 2, DAY])).toBe(3)
    // The isolate forgets what is over, so it would have to ask.
    expect(await at(DAY + 2, [DAY + 2, DAY, DAY + 1])).toBe(3)
    expect(await at(DAY + 2, [DAY - 2])).toBe(1)
  })

  it('is the same after the clock went forward a year and back', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: DAY * DAY_SECONDS * 1_000 })
    const one = isolate()
    const before = await one.of(DAY, waitUntil)
    vi.setSystemTime((DAY + 365) * DAY_SECONDS * 1_000)
    const later = await one.of(DAY + 365, waitUntil)
    vi.setSystemTime(DAY * DAY_SECONDS * 1_000)
    expect(await one.of(DAY, waitUntil)).toBe(before)
    expect(await isolate().of(DAY + 365, waitUntil)).toBe(later)
  })
})

describe('With a database that fails', () => {
  it.each(['SELECT', 'INSERT'])('the stored salt is used although an answer to %s was lost', async (match) => {
    await db.behave({ faults: [{ action: 'cut-answer', match: `${match}.*visitor_salts` }] })
    const salt = await isolate(connected()).of(DAY, waitUntil)
    expect(salt).toBe(await readSalt(db, DAY))
    expect(await isolate().of(DAY, waitUntil)).toBe(salt)
  })

  it('an isolate uses the salt that it would store, and stores that one once it can', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const one = isolate(connected())
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'visitor_salts', times: 1_000 }] })
    let salt = ''
    const lines = await logged(async () => {
      salt = await one.of(DAY, waitUntil)
      expect(await one.of(DAY, waitUntil)).toBe(salt)
    })
    expect(salt).toMatch(SALT)
    expect(lines).toEqual([{ event: 'salt_missing', reason: 'unavailable' }])
    await db.behave()
    // It asks again after a few seconds.
    expect(await one.of(DAY, waitUntil)).toBe(salt)
    expect(await days()).toEqual([])
    vi.setSystemTime(Date.now() + 5_001)
    expect(await one.of(DAY, waitUntil)).toBe(salt)
    expect(await isolate().of(DAY, waitUntil)).toBe(salt)
  })

  it('an isolate adopts the salt of another one that was faster', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const one = isolate(connected())
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'visitor_salts', times: 1_000 }] })
    const own = await one.of(DAY, waitUntil)
    await db.behave()
    const salt = await isolate().of(DAY, waitUntil)
    expect(salt).not.toBe(own)
    vi.setSystemTime(Date.now() + 5_001)
    expect(await one.of(DAY, waitUntil)).toBe(salt)
  })

  it('nothing that the database says about the statement reaches the log', async () => {
    let salt = ''
    const quoting: Executor = {
      async execute(sql) {
        salt = /X'(\w+)'/.exec(sql)?.[1] ?? salt
        if (sql.startsWith('INSERT')) throw new Error(`syntax error in ${sql}`)
        return db.execute(sql)
      },
    }
    const lines = await logged(() => isolate(quoting).of(DAY, waitUntil))
    expect(salt).toMatch(SALT)
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain(salt)
  })

  it('a reader that lags behind does not make an isolate invent another salt for good', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const salt = await isolate().of(DAY, waitUntil)
    let lagging = true
    const replica: Executor = {
      async execute(sql, args) {
        const result = await db.execute(sql, args)
        return lagging && sql.startsWith('SELECT') ? { ...result, rows: [] } : result
      },
    }
    const one = isolate(replica)
    await logged(() => one.of(DAY, waitUntil))
    lagging = false
    vi.setSystemTime(Date.now() + 5_001)
    expect(await one.of(DAY, waitUntil)).toBe(salt)
  })

  it('another request takes over if the one that asked has died, and nobody waits longer than 3 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const gate = new GatedDatabase(db)
    gate.lose(1)
    const one = isolate(gate)
    void one.of(DAY, () => {})
    const waiting = one.of(DAY, waitUntil)
    vi.setSystemTime(Date.now() + 3_001)
    const own = await waiting
    expect(gate.sent).toHaveLength(1)
    vi.setSystemTime(Date.now() + 17_000)
    // It is stored now.
    expect(await one.of(DAY, waitUntil)).toBe(own)
    expect(await readSalt(db, DAY)).toBe(own)
  })

  it('a clock that was set back does not keep requests waiting', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const gate = new GatedDatabase(db)
    gate.lose(1)
    const one = isolate(gate)
    void one.of(DAY, () => {})
    vi.setSystemTime(Date.now() - HOUR * 1_000)
    expect(await one.of(DAY, waitUntil)).toBe(await readSalt(db, DAY))
  })
})

describe('Salts are deleted', () => {
  /** Seconds since 1970, by the clock of the database. */
  const seconds = async () => Number(await db.number('SELECT UNIX_TIMESTAMP()'))

  it('to the second, plus ten minutes by which clocks may differ', async () => {
    const now = await seconds()
    const day = Math.floor(now / DAY_SECONDS) - 2
    await offerSalt(db, day, '00'.repeat(32))
    // The window that began at the end of the day before yesterday ends in a minute, and ended a minute ago, less ten.
    const sinceItsDay = now - (day + 1) * DAY_SECONDS
    expect(await deleteOldSalts(db, sinceItsDay - 600 + 60)).toBe(0)
    expect(await days()).toEqual([day])
    expect(await deleteOldSalts(db, sinceItsDay - 600 - 60)).toBe(1)
    expect(await days()).toEqual([])
  })
})
