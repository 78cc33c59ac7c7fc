import { readGitHubReleases } from './github-releases.ts'
import { readGoatCounter } from './goatcounter.ts'
import type { ImportRow } from './import-rows.ts'
import { readPlausible } from './plausible.ts'
import type { LeftOut, TakenOver } from './taken-over.ts'

/**
 * Reads the export of another counter, and adds it up for each key and day.
 *
 * @param leftOut is filled in
 * @throws {LineError} at the first row that is wrong
 */
export type OtherCounter = (
  chunks: AsyncIterable<Buffer>,
  taken: TakenOver,
  leftOut: LeftOut,
) => AsyncGenerator<ImportRow>

/** The counters whose exports can be read, and the type that their numbers usually have here. */
export const OTHER_COUNTERS = {
  goatcounter: { read: readGoatCounter, type: 'page_view' },
  plausible: { read: readPlausible, type: 'page_view' },
  'github-releases': { read: readGitHubReleases, type: 'download' },
} as const satisfies Record<string, { read: OtherCounter; type: string }>
