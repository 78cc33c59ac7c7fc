/** The figures of a run, and how the report shows them. Their names are keys in bench/results. */
export const FIGURES = {
  answered: { heading: 'responses', digits: 0 },
  acknowledged: { heading: 'responses with warm-up', digits: 0 },
  perSecond: { heading: 'requests/s', digits: 0 },
  p50Ms: { heading: 'median ms', digits: 2 },
  p99Ms: { heading: 'p99 ms', digits: 2 },
  statementsPer1000: { heading: 'statements per 1,000', digits: 1 },
  cpuMicros: { heading: 'CPU µs per request', digits: 1 },
  cpuMs: { heading: 'CPU ms', digits: 2 },
  nativeMs: { heading: 'ms outside JavaScript', digits: 2 },
  counted: { heading: 'counted', digits: 0 },
  errors: { heading: 'errors', digits: 0 },
  lockWaitsPer1000: { heading: 'lock waits per 1,000', digits: 1 },
  deadlocksPer1000: { heading: 'deadlocks per 1,000', digits: 2 },
  idsPer1000: { heading: 'ids wasted per 1,000', digits: 0 },
  rowsPerSecond: { heading: 'slots/s', digits: 0 },
  rows: { heading: 'slots', digits: 0 },
  milliseconds: { heading: 'ms', digits: 1 },
  statements: { heading: 'statements', digits: 0 },
  pendingSlots: { heading: 'pending slots', digits: 0 },
  hitStatementsPerSecond: { heading: 'hit statements/s', digits: 1 },
  nameStatementsPerSecond: { heading: 'name statements/s', digits: 1 },
  rowsWrittenPerSecond: { heading: 'slots written/s', digits: 0 },
  newSlotsPerSecond: { heading: 'new slots/s', digits: 0 },
  processors: { heading: 'processors to write', digits: 3 },
  pendingPerCounter: { heading: 'pending per counter', digits: 1 },
  pendingOfBusiest: { heading: 'pending of the busiest', digits: 0 },
  slotsOfDay: { heading: 'slots kept for a day', digits: 0 },
  isolates: { heading: 'isolates', digits: 0 },
  simulatedIsolates: { heading: 'of these simulated', digits: 0 },
  simulatedHits: { heading: 'hits simulated', digits: 0 },
  pendingFormula: { heading: 'pending, formula relative to simulation', digits: 3 },
  processorSeconds: { heading: 'processor s', digits: 2 },
  peakMiB: { heading: 'MiB of memory growth', digits: 1 },
  memoryMiB: { heading: 'MiB of memory', digits: 0 },
  restartMs: { heading: 'ms from kill to answer', digits: 0 },
  startMs: { heading: 'ms to first response', digits: 1 },
  kilobytes: { heading: 'kB', digits: 1 },
  gzipKilobytes: { heading: 'kB gzipped', digits: 1 },
  dayKiB: { heading: 'KiB of a day', digits: 0 },
  laterKiB: { heading: 'KiB of it later', digits: 0 },
  dayMemoryKiB: { heading: 'KiB of memory', digits: 0 },
  told: { heading: 'acknowledged', digits: 0 },
  lost: { heading: 'lost, at least', digits: 0 },
} as const

export type FigureName = keyof typeof FIGURES
export type Figures = Partial<Record<FigureName, number>>

/** A figure as people read it. */
export function formatFigure(figure: FigureName, value: number | undefined): string {
  if (value === undefined) return '–'
  const { digits } = FIGURES[figure]
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
