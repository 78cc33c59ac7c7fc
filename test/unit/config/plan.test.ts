import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT } from '../../../local/project-root.ts'
import { PLANS } from '../../../src/config/config.ts'
import { problems, read } from './valid-config.ts'

describe('The plan', () => {
  it('is free or paid, and nothing else', () => {
    expect([read({}).plan, read({ PLAN: 'paid' }).plan]).toEqual(['free', 'paid'])
    for (const PLAN of ['', 'Paid', 1, null, {}]) {
      expect(problems({ PLAN })).toEqual(['PLAN must be "free" or "paid"'])
    }
  })

  it('gives every budget that is not set alone', () => {
    const { rollUp, pruning, history } = read({
      PLAN: 'paid',
      ROLLUP: { max_seconds: 7 },
      PRUNING: { idempotency_hours: 5, page_slots: 8 },
    })
    expect([rollUp, pruning, history]).toEqual([
      { pageSlots: 1_000, maxStatements: 9_000, maxSeconds: 7 },
      { idempotencyHours: 5, pageSlots: 8, maxStatements: 5_000, maxSeconds: 60 },
      { hourDays: 90, pageHours: 2_000, maxStatements: 9_800, maxSeconds: 40 },
    ])
  })

  it.each([
    ['free', 50],
    ['paid', 10_000],
  ] as const)('%s stays within the subrequests and the time of a run', (plan, subrequests) => {
    const { ROLLUP, PRUNING, HISTORY } = PLANS[plan]
    expect(ROLLUP.max_statements).toBeLessThan(subrequests)
    expect(HISTORY.max_statements).toBeLessThan(subrequests)
    expect(PRUNING.max_statements).toBeLessThan(HISTORY.max_statements)
    expect(ROLLUP.max_seconds).toBeLessThan(60)
    expect(PRUNING.max_seconds + HISTORY.max_seconds).toBeLessThan(120)
  })

  it('is free: a pruning run that could exceed its subrequests is refused, and stays within them', () => {
    const most = (most: number) => `must be at most ${most} with PLAN = "free", whose runs have 50 subrequests`
    const many = { PRUNING: { max_statements: 41 }, HISTORY: { max_statements: 51 } }
    expect(problems(many)).toEqual([`PRUNING.max_statements ${most(40)}`, `HISTORY.max_statements ${most(50)}`])
    expect([read(many).pruning.maxStatements, read(many).history.maxStatements]).toEqual([40, 50])
    expect(problems({ PRUNING: { max_statements: 40 }, HISTORY: { max_statements: 50 } })).toEqual([])
    expect(problems({ ...many, PLAN: 'paid' })).toEqual([])
    const ranges = { SHARDING: { ranges: 4 } }
    expect(problems({ ...ranges, PRUNING: { max_statements: 26 } })).toEqual([`PRUNING.max_statements ${most(25)}`])
    expect([2, 4, 8].map((ranges) => read({ SHARDING: { ranges } }).rollUp.maxStatements)).toEqual([28, 44, 48])
  })

  it('is described with its figures', () => {
    const text = readFileSync(join(PROJECT, 'docs/configuration.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `([A-Z]+\.\w+)` \| (\d+) \| (\d+) \|/gm)]
    const described = Object.fromEntries(rows.map(([, name, free, paid]) => [name, [Number(free), Number(paid)]]))
    const paid: Record<string, Record<string, number>> = PLANS.paid
    const budgets = Object.entries(PLANS.free).flatMap(([table, free]) =>
      Object.entries(free).map(([name, value]) => [`${table}.${name}`, [value, paid[table]![name]]]),
    )
    expect(described).toEqual(Object.fromEntries(budgets))
  })
})
