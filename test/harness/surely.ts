import { Overtaken } from '../../src/counters/ledger/totals.ts'
import { DatabaseFailure } from '../../src/database/errors.ts'

/** Makes a change until it is made: locks of a transaction whose answer was lost may refuse it for a while. */
export async function surely<T>(change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof Overtaken || (error instanceof DatabaseFailure && error.retry))) throw error
    }
  }
}
