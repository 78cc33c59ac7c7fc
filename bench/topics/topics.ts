import type { Topic } from '../topic.ts'
import { alternatives } from './alternatives.ts'
import { contention } from './contention.ts'
import { contentionLatency } from './contention-latency.ts'
import { direct } from './direct.ts'
import { faults } from './faults.ts'
import { hotKey } from './hot-key.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { manyKeys } from './many-keys.ts'
import { profile } from './profile.ts'
import { reading } from './reading.ts'
import { rollUp } from './roll-up.ts'
import { slots } from './slots.ts'
import { worker } from './worker.ts'

/**
 * All benchmarks, in the order of the report: in each line those that answer one question together. The first one's name stands
 * for all of them, which take less than ten minutes.
 */
export const QUESTIONS: readonly (readonly [Topic, ...Topic[]])[] = [
  [hotKey, latency, manyKeys, idle],
  [contention, direct],
  [slots, contentionLatency],
  [reading],
  [rollUp],
  [alternatives, faults],
  [worker, profile],
]

export const TOPICS: readonly Topic[] = QUESTIONS.flat()

/**
 * The topics that some names stand for.
 *
 * @param names of topics; none stands for everything
 */
export function topicsOf(names: readonly string[]): Topic[] {
  if (names.length === 0) return [...TOPICS]
  return QUESTIONS.flatMap((question) =>
    names.includes(question[0].name) ? question : question.filter(({ name }) => names.includes(name)),
  )
}
