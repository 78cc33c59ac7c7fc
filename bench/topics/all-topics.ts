import type { Topic } from '../report/topic.ts'
import { alternatives } from './alternatives/alternatives.ts'
import { faults } from './alternatives/faults.ts'
import { contention } from './contention/contention.ts'
import { direct } from './contention/direct.ts'
import { distance } from './distance/distance.ts'
import { hotKey } from './hot-key/hot-key.ts'
import { idle } from './hot-key/idle.ts'
import { manyKeys } from './hot-key/many-keys.ts'
import { throughVtgate } from './hot-key/through-vtgate.ts'
import { latency } from './hot-key/with-database-latency.ts'
import { reading } from './reading/reading.ts'
import { rollUp } from './roll-up/roll-up.ts'
import { scale } from './scale/scale.ts'
import { scaleCheck } from './scale/scale-check.ts'
import { scaleRollUp } from './scale/scale-roll-up.ts'
import { scaleSpread } from './scale/scale-spread.ts'
import { serverCosts } from './scale/server-costs.ts'
import { slots } from './slots/slots.ts'
import { contentionLatency } from './slots/with-commit-latency.ts'
import { strangers } from './strangers/strangers.ts'
import { freePlan } from './worker/free-plan.ts'
import { profile } from './worker/profile.ts'
import { publicRequests } from './worker/public-requests.ts'
import { worker } from './worker/worker.ts'

/**
 * All topics in the order of the report. Each line holds those that answer one question; the first one's name selects them all.
 * A question takes less than ten minutes.
 */
export const QUESTIONS: readonly (readonly [Topic, ...Topic[]])[] = [
  [hotKey, latency, throughVtgate, manyKeys, idle],
  [contention, direct],
  [slots, contentionLatency],
  [reading],
  [rollUp],
  [distance],
  [strangers],
  [alternatives, faults],
  [worker, profile],
  [freePlan, publicRequests],
  [serverCosts, scaleCheck],
  [scale],
  [scaleSpread, scaleRollUp],
]

export const TOPICS: readonly Topic[] = QUESTIONS.flat()

/**
 * The topics that names select.
 *
 * @param names of topics; an empty list selects everything
 */
export function topicsOf(names: readonly string[]): Topic[] {
  if (names.length === 0) return [...TOPICS]
  return QUESTIONS.flatMap((question) =>
    names.includes(question[0].name) ? question : question.filter(({ name }) => names.includes(name)),
  )
}
