import { describe, it } from 'vitest'
import type { Fault } from '../../local/planetscale/fault-injection.ts'
import { countThrough, faulty } from './count-through.ts'
import { nowAndThen } from './faulty-database.ts'

/** Errors of the server, by their numbers. */
function errors(...errnos: number[]): Fault[] {
  return errnos.map((errno) => ({ action: 'error', errno }))
}

describe('Acknowledged increments count once, refused ones do not count, and the others count at most once', () => {
  it.each<[string, Fault[]]>([
    ['answers are cut off after the commit', [{ action: 'cut-answer' }]],
    ['requests are cut off before the commit', [{ action: 'cut-request' }]],
    ['lock waits time out, and statements are deadlock victims or interrupted', errors(1205, 1213, 1317)],
    ['there are too many connections, the server has gone away, or connections are lost', errors(1040, 2006, 2013)],
    ['a proxy answers 502, 521 or 429', [502, 521, 429].map((status) => ({ action: 'html', status }))],
  ])('when %s', async (_, faults) => {
    await countThrough(async (world) => {
      // Each strikes names and increments, also so often in a row that the circuit breaker opens.
      for (const fault of faults) await faulty(nowAndThen({ ...fault, match: '^INSERT' }, [1, 2, 4, 8]))(world)
    })
  })
})
