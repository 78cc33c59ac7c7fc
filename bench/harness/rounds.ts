import { FIGURES, type FigureName, type Outcome, type Run, type Topic, type Variant } from '../topic.ts'
import type { Rig } from './rig.ts'

/** How long and how often to measure. */
export interface Extent {
  rounds: number
  /** Seconds of each run, without its warm-up. */
  seconds: number
}

/** Runs that may break down one after another, rather than give figures, before there is no point in going on. */
const MAX_BROKEN = 3

/**
 * Measures all variants of a topic, round by round, each time in processes of their own. Every round begins with another
 * variant, and every other one goes backwards, so that none always comes after the same one. A run that breaks down has
 * failed; the others go on.
 *
 * @param variants those of the topic that can be measured
 * @param progress told of every run, and how many runs that finished: 1, or 0 for a line that belongs to the one before
 * @throws {Error} if nothing works any more, or the bench is stopped
 */
export async function runTopic(
  rig: Rig,
  topic: Topic,
  variants: readonly Variant[],
  { rounds, seconds }: Extent,
  progress: (line: string, finished: number) => void,
): Promise<Run[]> {
  const runs: Run[] = []
  let broken = 0
  for (let round = 1; variants.length > 0 && round <= rounds; round++) {
    for (const variant of orderOf(variants, round)) {
      rig.signal.throwIfAborted()
      const outcome: Outcome = await variant.measure(rig, round, seconds).catch((error: unknown) => {
        rig.signal.throwIfAborted()
        if (++broken >= MAX_BROKEN) throw error
        return { figures: {}, violations: [`it broke down: ${error instanceof Error ? error.message : String(error)}`] }
      })
      const { figures, violations } = outcome
      if (Object.keys(figures).length > 0) broken = 0
      runs.push({ round, variant: variant.name, ...outcome })
      const known = topic.columns.filter((figure) => figures[figure] !== undefined)
      const shown = known.map((figure) => `${format(figure, figures[figure])} ${FIGURES[figure].heading}`)
      progress(`${topic.name} ${round}/${rounds}  ${variant.name}: ${shown.join(', ')}`, 1)
      for (const violation of violations) progress(`  FAILED: ${violation}`, 0)
    }
  }
  rig.signal.throwIfAborted()
  return runs
}

/** The variants in the order of a round. */
function orderOf(variants: readonly Variant[], round: number): Variant[] {
  const first = (round - 1) % variants.length
  const rotated = [...variants.slice(first), ...variants.slice(0, first)]
  return round % 2 === 1 ? rotated : rotated.reverse()
}

/** A figure as people read it. */
export function format(figure: FigureName, value: number | undefined): string {
  if (value === undefined) return '–'
  const { digits } = FIGURES[figure]
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
