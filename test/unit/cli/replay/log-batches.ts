import { type ReplayBatch, replayBatches } from '../../../../cli/replay/cut-log-batches.ts'
import type { ReplayRules } from '../../../../cli/replay/replay-rules.ts'
import type { RunMemory } from '../../../../cli/replay/run-memory.ts'

/** Counts every request. */
export const RULES: ReplayRules = {
  pageType: 'page_view',
  downloadType: 'download',
  downloads: /\.(zip|tgz)$/,
  all: true,
  keepQuery: false,
}

/** A line in combined format, without an agent. */
export const logged = (target: string, { method = 'GET', status = '200', second = 0 } = {}) =>
  `192.0.2.1 - - [20/Nov/2026:10:59:${String(second).padStart(2, '0')} +0000] "${method} ${target} HTTP/1.1" ${status} 512 "-" "-"`

/** A memory without a file. */
export function inMemory(): RunMemory {
  const states = new Set<string>()
  return {
    has: (state) => states.has(state),
    add: async (state) => void states.add(state),
  }
}
export async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
/** The batches of lines. */
export const cut = (lines: readonly string[], rules = RULES, memory = inMemory()): Promise<ReplayBatch[]> =>
  Array.fromAsync(replayBatches(each(lines), rules, memory))
export const keys = (all: readonly ReplayBatch[]) => all.map(({ idempotencyKey }) => idempotencyKey)
/** The requests that are sent. */
export const sent = (all: readonly ReplayBatch[]) =>
  all.flatMap(({ idempotencyKey, increments }) => (increments.length > 0 ? [[idempotencyKey, increments]] : []))
export const sizes = (all: readonly ReplayBatch[]) => all.map(({ lines }) => lines)
export const countedIn = ({ increments }: ReplayBatch) => increments.reduce((sum, { by }) => sum + by, 0)
/** Lines for different pages. */
export const paths = (count: number, from = 0) => Array.from({ length: count }, (_, i) => logged(`/page/${from + i}`))
