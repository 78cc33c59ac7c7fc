import type { DailyCounts } from './daily-counts.ts'
import { readGitHubReleases } from './github-releases.ts'
import { readGoatCounterExport } from './goatcounter-export.ts'
import { readPlausibleExport } from './plausible-export.ts'

/** A tool whose exports can be imported. */
export interface OtherCounter {
  /** The counter type of its counts, unless another one is wanted. */
  type: string
  /** Adds up what an export holds. */
  read: (chunks: AsyncIterable<Buffer>, counts: DailyCounts) => Promise<void>
  /** What has no place in a counter. */
  neverImported: string
}

/** The tools by their names in `--from`. */
export const OTHER_COUNTERS: Readonly<Record<string, OtherCounter>> = {
  goatcounter: {
    type: 'page_view',
    read: readGoatCounterExport,
    neverImported: 'titles, referrers, browsers, systems, screen sizes, languages, locations and sessions',
  },
  plausible: {
    type: 'page_view',
    read: readPlausibleExport,
    neverImported: 'visitors, visits, host names, scroll depth and time on page',
  },
  'github-releases': {
    type: 'download',
    read: readGitHubReleases,
    neverImported: 'days, which GitHub does not tell, and archives of the source, which it does not count',
  },
}
