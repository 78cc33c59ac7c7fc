import { httpVariant } from '../../harness/http-variant.ts'
import type { Topic } from '../../report/topic.ts'

const CONNECTIONS = 256

const common = {
  worker: 'product',
  path: '/hit?type=page_view&key=%2Fblog%2Fhello',
  keys: 0,
  connections: CONNECTIONS,
  counts: 'slotted_counters',
  // Both or none.
  needs: ['vitess'],
} as const

const MYSQL = 'MySQL'
const VTGATE = 'vtgate'

/** The hot key through Vitess, the engine under PlanetScale. */
export const throughVtgate: Topic = {
  name: 'vtgate',
  title: 'And through vtgate?',
  text:
    `PlanetScale is MySQL behind vtgate. ${CONNECTIONS} connections count one key with \`POST /hit?…\`, on MySQL and through a vtgate in front of it ` +
    '(`VITESS_URL`, one shard).',
  missed: 'vtgate and vttablet share the CPUs with everything else.',
  variants: [
    httpVariant({ ...common, name: MYSQL, about: 'without Vitess', server: 'mysql' }),
    httpVariant({ ...common, name: VTGATE, about: 'the same through vtgate and vttablet', server: 'vitess' }),
  ],
  columns: ['perSecond', 'p50Ms', 'p99Ms', 'statementsPer1000', 'cpuMicros'],
  comparisons: [
    {
      label: 'requests/s: vtgate vs. MySQL',
      figure: 'perSecond',
      of: VTGATE,
      to: MYSQL,
      target: { atLeast: 0.9 },
    },
  ],
}
