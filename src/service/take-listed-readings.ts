import { type CountRefusal, setCounts, type WantedCount } from '../counters/changes/set-counts.ts'
import { rowsByRange } from '../counters/ranges.ts'
import type { Isolate } from '../isolate.ts'
import { listedCounters } from './named-counters.ts'
import { REFUSALS } from './problem.ts'

export interface ListedReading {
  type: string
  key: string
  count: number
  /** Whether it may be below the count. Default: no. */
  reset?: boolean
}

/** Asks to send readings again if their outcome is unknown. */
export const SEND_AGAIN = 'Send the same readings again: those that were taken add nothing.'

/** Takes readings, each by itself. After a failure, those of some ranges may have been taken. @throws {Problem} 422: nothing was changed */
export async function takeListedReadings(isolate: Isolate, readings: readonly ListedReading[]) {
  const { changeDb } = isolate
  const listed = await listedCounters(isolate, 'readings', readings)
  const rows = listed.map(({ counter, count, reset = false, type, key }) => {
    const reading: WantedCount = { counter, count: BigInt(count), as: reset ? 'reset' : 'reading' }
    return { recordId: counter.recordId, reading, sent: { type, key, count } }
  })
  const refused: (Omit<ListedReading, 'reset'> & { code: CountRefusal; detail: string })[] = []
  let added = 0n
  for (const ofRange of rowsByRange(rows, changeDb.ranges).values()) {
    const asked = ofRange.map(({ reading }) => reading)
    const taken = await setCounts(changeDb, asked, { key: null, at: new Date() })
    for (const [index, result] of taken === 'repeated' ? [] : taken.entries()) {
      if ('added' in result) added += result.added
      else refused.push({ ...ofRange[index]!.sent, code: result.refused, detail: REFUSALS[result.refused] })
    }
  }
  return { taken: listed.length - refused.length, added, refused }
}
