import { FIGURES, type FigureName, formatFigure } from './figure-names.ts'
import type { Testbed } from './shared-testbed.ts'
import type { Outcome, Run, Variant } from './variant.ts'

/** How often and how long to measure. */
export interface Extent {
  rounds: number
  /** Seconds of each run, without its warm-up. */
  seconds: number
}

/** Consecutive runs that may fail without any figures before the benchmark gives up. */
const MAX_CRASHED = 3

/** The topic that is measured, for progress messages. */
interface Measured {
  name: string
  /** Figures to print for each run. */
  columns: readonly FigureName[]
}

/**
 * Measures variants round by round, each time in new processes. Every round starts with another variant and every second
 * round runs backwards, so that no variant always follows the same one. If a run fails, the others continue.
 *
 * @param progress called with a line for every run, and with the number of runs that it finishes: 1, or 0 for a detail
 * @throws {Error} if several runs in a row fail without any figures, or the benchmark is stopped
 */
export async function runRounds(
  testbed: Testbed,
  topic: Measured,
  variants: readonly Variant[],
  { rounds, seconds }: Extent,
  progress: (line: string, finished: number) => void,
): Promise<Run[]> {
  const runs: Run[] = []
  let crashed = 0
  for (let round = 1; variants.length > 0 && round <= rounds; round++) {
    for (const variant of orderOf(variants, round)) {
      testbed.signal.throwIfAborted()
      const outcome: Outcome = await variant.measure(testbed, round, seconds).catch((error: unknown) => {
        testbed.signal.throwIfAborted()
        if (++crashed >= MAX_CRASHED) throw error
        return {
          figures: {},
          violations: [`the run crashed: ${error instanceof Error ? error.message : String(error)}`],
        }
      })
      const { figures, violations } = outcome
      if (Object.keys(figures).length > 0) crashed = 0
      runs.push({ round, variant: variant.name, ...outcome })
      const known = topic.columns.filter((figure) => figures[figure] !== undefined)
      const shown = known.map((figure) => `${formatFigure(figure, figures[figure])} ${FIGURES[figure].heading}`)
      progress(`${topic.name} ${round}/${rounds}  ${variant.name}: ${shown.join(', ')}`, 1)
      for (const violation of violations) progress(`  FAILED: ${violation}`, 0)
    }
  }
  testbed.signal.throwIfAborted()
  return runs
}

/** The variants in the order of a round. */
function orderOf(variants: readonly Variant[], round: number): Variant[] {
  const first = (round - 1) % variants.length
  const rotated = [...variants.slice(first), ...variants.slice(0, first)]
  return round % 2 === 1 ? rotated : rotated.reverse()
}
