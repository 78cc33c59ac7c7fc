import type { Topic } from '../report/topic.ts'
import { alternatives } from './alternatives/alternatives.ts'
import { direct } from './direct/direct.ts'
import { hotKey } from './hot-key/hot-key.ts'
import { manyKeys } from './hot-key/many-keys.ts'
import { throughVtgate } from './hot-key/through-vtgate.ts'
import { latency } from './hot-key/with-database-latency.ts'
import { idle } from './idle/idle.ts'
import { oneMachine } from './one-machine/one-machine.ts'
import { reading } from './reading/reading.ts'
import { rollUp } from './roll-up/roll-up.ts'
import { scale } from './scale/scale.ts'
import { scaleCheck } from './scale/scale-check.ts'
import { serverCosts } from './scale/server-costs.ts'
import { freePlan } from './worker/free-plan.ts'
import { publicRequests } from './worker/public-requests.ts'
import { worker } from './worker/worker.ts'

/** The questions of the report, in its order. Naming a question's first topic selects all of its topics. */
export const QUESTIONS: readonly (readonly [Topic, ...Topic[]])[] = [
  [idle],
  [hotKey, latency, throughVtgate, manyKeys, oneMachine],
  [alternatives],
  [direct],
  [reading],
  [rollUp],
  [worker],
  [freePlan, publicRequests],
  [serverCosts, scaleCheck],
  [scale],
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
