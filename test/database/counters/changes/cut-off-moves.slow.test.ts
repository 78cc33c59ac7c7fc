import { expect, it } from 'vitest'
import type { MoveRequest } from '../../../../src/counters/changes/move-counter.ts'
import { random63 } from '../../../../src/counters/ids.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { cutFetch } from '../../../harness/faulty-fetch.ts'
import { countOn, countsOf, expectExact, move, rollUpAt } from '../../../harness/moves.ts'
import { surely } from '../../../harness/surely.ts'

const DAY_MS = 86_400_000

it.each(['delete', 'rename'] as const)(
  'An idempotency key finds out whether a %s that was cut off anywhere was done',
  async (kind) => {
    const db = await freshDatabase()
    // If the answer to the first statement is lost, its locks stay until the server ends the transaction.
    await db.behave({ transactionMs: 1_000 })
    // More statements than a change has. Each cut gets counters of its own.
    const cuts = Array.from({ length: 22 }, (_, after) =>
      [false, true].map((delivered) => ({ after, delivered })),
    ).flat()
    const counterOf = (index: number) => ({ recordType: 1, recordId: BigInt(index), name: `/${index}` })
    const sources = cuts.map((_, i) => counterOf(2 * i))
    for (const source of sources) await countOn(db, source, 2n)
    await rollUpAt(db, new Date(Date.now() - DAY_MS))
    for (const source of sources) await countOn(db, source, 3n)
    await Promise.all(
      cuts.map(async (cut, i) => {
        const [source, target] = [sources[i]!, counterOf(2 * i + 1)]
        const request: Partial<MoveRequest> = { kind, target: kind === 'delete' ? null : target, key: random63() }
        const fetch = cutFetch({ ...cut, rollback: true })
        const interrupted = db.open({ deadlineMs: 30_000, fetch })
        await move(interrupted, source, request).catch(() => {})
        await surely(() => move(db, source, request))
        const moved = kind === 'delete' ? 0n : 5n
        expect([cut, await countsOf(db, [source, target])]).toEqual([cut, [0n, moved]])
      }),
    )
    await expectExact(db)
  },
)
