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

/** All benchmarks, in the order of the report. */
export const TOPICS: readonly Topic[] = [
  hotKey,
  latency,
  manyKeys,
  idle,
  contention,
  contentionLatency,
  direct,
  slots,
  reading,
  rollUp,
  alternatives,
  faults,
  worker,
  profile,
]
