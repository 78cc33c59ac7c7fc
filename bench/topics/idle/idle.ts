import { httpVariant } from '../../harness/http-variant.ts'
import { judge } from '../../report/comparison.ts'
import { renderTable } from '../../report/markdown-table.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import type { Topic } from '../../report/topic.ts'
import { DISTANCES, EMPTY, FIRST, firstName, firstRequests, startOfEmpty } from './cold-start.ts'

const HIT = 'POST /hit'
const STATEMENT = 'one statement'

type Request = keyof typeof FIRST

/** Milliseconds of a first request beyond the start of an empty Worker. */
const coldMs = (request: Request, distance: number) =>
  ({
    label: `ms: ${FIRST[request].name}, ${distance} ms away`,
    figure: 'startMs',
    of: firstName(request, distance),
    to: EMPTY,
    as: 'difference',
  }) as const

/** What a site with few visitors gets: a request may be the first one of an isolate, and shares a statement with no other. */
export const idle: Topic = {
  name: 'idle',
  title: 'What does a quiet site pay?',
  text:
    'On a quiet site, a request may have to start an isolate. Cold: the time from the start of workerd to the first answer, minus an empty Worker’s. The “number on a page” comes from ' +
    '`/v1/shown`. A statement takes a round trip to the database. Warm: one connection sends one hit after another for a known key. The baseline sends only the ' +
    'statement, from a Hono app without middleware.',
  variants: [
    httpVariant({
      name: HIT,
      about: 'counts, and responds after the commit',
      worker: 'product',
      path: '/hit',
      connections: 1,
      counts: 'slotted_counters',
    }),
    httpVariant({
      name: STATEMENT,
      about: 'the same statement in a Hono app without middleware; the body is not read',
      worker: 'baselines',
      path: '/statement',
      connections: 1,
      counts: 'slotted_counters',
    }),
    startOfEmpty,
    ...firstRequests,
  ],
  columns: ['p50Ms', 'p99Ms', 'startMs', 'cpuMs', 'statements', 'perSecond', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    {
      label: `warm, median ms: ${HIT} minus ${STATEMENT}`,
      figure: 'p50Ms',
      of: HIT,
      to: STATEMENT,
      as: 'difference',
      target: { atMost: 1 },
    },
  ],
  findings({ runs }) {
    return [
      `In a warm isolate, a hit takes ${rounded(medianOf(runs, HIT, 'p50Ms'))} ms (median) with its commit, and the bare statement ${rounded(medianOf(runs, STATEMENT, 'p50Ms'))} ms.`,
    ]
  },
}

/** What a quiet site gets, in a table for the first screen; `null` if that was not measured. */
export function renderQuiet(results: Results): string | null {
  const runs = results[idle.name]?.runs ?? []
  const rows = (Object.keys(FIRST) as Request[]).map((request) => [
    FIRST[request].name,
    rounded(medianOf(runs, firstName(request, DISTANCES[0]), 'statements')),
    ...DISTANCES.map((distance) => rounded(judge(coldMs(request, distance), runs).median)),
  ])
  if (rows.flat().includes('NaN')) return null
  return renderTable(['first request of an isolate', 'statements', ...DISTANCES.map((ms) => `ms, ${ms} ms away`)], rows)
}
