import type { Rig } from './rig.ts'
import { FIGURES, type FigureName, type Run, type Table, type Topic } from './topic.ts'

/** How long and how often to measure. */
export interface Extent {
  rounds: number
  /** Seconds of each run, without its warm-up. */
  seconds: number
}

/**
 * Measures all variants of a topic, round by round, each time in processes of their own. Every round begins with another
 * variant, so that none is always the one that comes after the same other one.
 *
 * @param progress told of every run, and how many runs that finished: 1, or 0 for a line that belongs to the one before
 */
export async function runTopic(
  rig: Rig,
  topic: Topic,
  { rounds, seconds }: Extent,
  progress: (line: string, finished: number) => void,
): Promise<{ runs: Run[]; tables: Table[] }> {
  const { name, variants } = topic
  const runs: Run[] = []
  for (let round = 1; variants.length > 0 && round <= rounds; round++) {
    const first = (round - 1) % variants.length
    for (const variant of [...variants.slice(first), ...variants.slice(0, first)]) {
      rig.signal.throwIfAborted()
      const { figures, violations } = await variant.measure(rig, round, seconds)
      runs.push({ round, variant: variant.name, figures, violations })
      const shown = topic.columns.map((figure) => `${format(figure, figures[figure])} ${FIGURES[figure].heading}`)
      progress(`${name} ${round}/${rounds}  ${variant.name}: ${shown.join(', ')}`, 1)
      for (const violation of violations) progress(`  FAILED: ${violation}`, 0)
    }
  }
  rig.signal.throwIfAborted()
  return { runs, tables: (await topic.once?.(rig, seconds)) ?? [] }
}

/** A figure as people read it. */
export function format(figure: FigureName, value: number | undefined): string {
  if (value === undefined) return '–'
  const { digits } = FIGURES[figure]
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
