import { FIGURES, type FigureName, formatFigure } from './figure-names.ts'
import type { Testbed } from './shared-testbed.ts'
import { watchStolenTime } from './stolen-time.ts'
import type { Outcome, Run, Variant } from './variant.ts'

/** How often and how long to measure. */
export interface Extent {
  rounds: number
  /** Seconds of each run, without its warm-up. */
  seconds: number
}

/** Consecutive runs that may fail without any figures before the benchmark gives up. */
const MAX_CRASHED = 3

/** A run is quiet if the host gave others no more than this, in percent of the processor time. */
export const QUIET_PERCENT = 2

/** How often a run is measured, at most, until it is quiet. */
export const MAX_ATTEMPTS = 3

/** All runs of a topic, and what it took to repeat those that were not quiet. */
export interface Rounds {
  runs: Run[]
  repeats: Repeats
}

/** Attempts that were measured and not kept. */
export interface Repeats {
  attempts: number
  seconds: number
}

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
 * If the host gave much processor time to others, a run is measured again, and the attempt that lost least is kept. What
 * was measured has no say in that, but what an attempt violated is always kept.
 *
 * @param progress called with a line for every run, and with the number of runs that it finishes: 1, or 0 for a detail
 * @param watch starts watching the lost processor time
 * @throws {Error} if several runs in a row fail without any figures, or the benchmark is stopped
 */
export async function runRounds(
  testbed: Testbed,
  topic: Measured,
  variants: readonly Variant[],
  { rounds, seconds }: Extent,
  progress: (line: string, finished: number) => void,
  watch = watchStolenTime,
): Promise<Rounds> {
  const runs: Run[] = []
  const repeats: Repeats = { attempts: 0, seconds: 0 }
  let crashed = 0

  async function attempt(variant: Variant, round: number): Promise<Attempt> {
    testbed.signal.throwIfAborted()
    const began = performance.now()
    const stolen = await watch()
    const outcome: Outcome = await variant.measure(testbed, round, seconds).catch((error: unknown) => {
      testbed.signal.throwIfAborted()
      if (++crashed >= MAX_CRASHED) throw error
      return {
        figures: {},
        violations: [`the run crashed: ${error instanceof Error ? error.message : String(error)}`],
      }
    })
    if (Object.keys(outcome.figures).length > 0) crashed = 0
    return { ...outcome, stolenPercent: await stolen(), seconds: (performance.now() - began) / 1_000 }
  }

  for (let round = 1; variants.length > 0 && round <= rounds; round++) {
    for (const variant of orderOf(variants, round)) {
      const attempts = [await attempt(variant, round)]
      let best = attempts[0]!
      while (!isQuiet(best) && best.violations.length === 0 && attempts.length < MAX_ATTEMPTS) {
        progress(`  lost ${best.stolenPercent} % of the processor time to others: measuring again`, 0)
        const next = await attempt(variant, round)
        attempts.push(next)
        if (next.violations.length > 0 || next.stolenPercent! < best.stolenPercent!) best = next
      }
      for (const other of attempts) {
        if (other === best) continue
        repeats.attempts++
        repeats.seconds += other.seconds
      }
      const { figures, violations, stolenPercent } = best
      runs.push({ round, variant: variant.name, stolenPercent, figures, violations })
      const known = topic.columns.filter((figure) => figures[figure] !== undefined)
      const shown = known.map((figure) => `${formatFigure(figure, figures[figure])} ${FIGURES[figure].heading}`)
      progress(`${topic.name} ${round}/${rounds}  ${variant.name}: ${shown.join(', ')}`, 1)
      for (const violation of violations) progress(`  FAILED: ${violation}`, 0)
    }
  }
  testbed.signal.throwIfAborted()
  return { runs, repeats: { ...repeats, seconds: Math.round(repeats.seconds) } }
}

interface Attempt extends Outcome {
  stolenPercent: number | null
  seconds: number
}

const isQuiet = ({ stolenPercent }: Attempt) => stolenPercent === null || stolenPercent <= QUIET_PERCENT

/** The variants in the order of a round. */
function orderOf(variants: readonly Variant[], round: number): Variant[] {
  const first = (round - 1) % variants.length
  const rotated = [...variants.slice(first), ...variants.slice(0, first)]
  return round % 2 === 1 ? rotated : rotated.reverse()
}
