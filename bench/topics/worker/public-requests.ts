import { counterValues } from '../../../src/counters/counters-sql.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import type { Deployment } from '../../harness/deployment.ts'
import type { Variant } from '../../harness/variant.ts'
import { median, medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { LIMIT_MS, measureCpu, type Prepare } from './free-plan.ts'
import { fillHistory, KEY } from './long-history.ts'

/** Pending slots of the counter. */
const PENDING = 400_000
const COUNTERS = {
  page_view: { record_type: 1, public: true, public_page: true, counting_badge: true, allowed_origins: ['*'] },
}
const DAY_MS = 86_400_000
const AGENT = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

async function fill(deployment: Deployment): Promise<void> {
  await fillHistory(deployment)
  const { server, database } = deployment
  const digits = `(${Array.from({ length: 10 }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')})`
  const places = [0, 1, 2, 3, 4, 5]
  const numbers = places.map((place) => `${digits} AS d${place}`).join(' JOIN ')
  const number = `CAST(${places.map((place) => `d${place}.n * ${10 ** place}`).join(' + ')} AS UNSIGNED)`
  await server.query(
    `INSERT INTO \`${database}\`.slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until)
     SELECT ${counterValues({ recordType: 1, recordId: await hash64(KEY) })}, ${number} * 46116860184273, 1, ${number}, 1 FROM ${numbers} WHERE d5.n < ${PENDING / 100_000}`,
  )
}

/** Always another answer: one that is kept costs next to nothing. */
const asked =
  (path: (run: number) => string): Prepare =>
  async (deployment) => {
    await fill(deployment)
    return { paths: (run) => [path(run)], headers: AGENT }
  }

const zones = Intl.supportedValuesOf('timeZone')
const zone = (run: number) => zones[(run * 13) % zones.length]!
const history = (by: 'day' | 'month', days: number) => (run: number) =>
  `/v1/counters/page_view/${encodeURIComponent(KEY)}/history?${new URLSearchParams({
    by,
    from: new Date(Date.now() - (days - run * (by === 'day' ? 1 : 31)) * DAY_MS).toISOString().slice(0, 10),
    tz: 'Europe/Berlin',
  })}`
const [key, of] = [encodeURIComponent(KEY), `/v1/counters/page_view/${encodeURIComponent(KEY)}`]
const keys = (count: number) => Array.from({ length: count }, (_, i) => `key=/page/${i}`).join('&')

const REQUESTS: Record<string, (run: number) => string> = {
  pixel: () => `/hit.gif?type=page_view&key=${key}`,
  'counting badge': () => `/hit/page_view/${key}.svg`,
  badge: () => `/badge/page_view/${key}.svg`,
  'badge of a month': () => `/badge/page_view/${key}.json?period=month`,
  counter: () => of,
  '100 counters': () => `/v1/counters/page_view?${keys(100)}`,
  'history of 30 days': history('day', 30),
  'history of 2,000 days': history('day', 1_990),
  'history of 20 years': history('month', 20 * 365),
  'total of a type': () => '/v1/types/page_view',
  'history of a type, 2,000 days': (run) => history('day', 1_990)(run).replace(of, '/v1/types/page_view'),
  'top list': () => '/v1/top/page_view?limit=100',
  'public page': () => '/stats/page_view',
  'numbers of a public page, 30 days': (run) => `/stats/page_view?tz=${zone(run)}`,
  'numbers of a public page, all time': (run) => `/stats/page_view?period=all&tz=${zone(run)}`,
}

const variants = Object.entries(REQUESTS).map(
  ([name, path]): Variant => ({
    name,
    about: path(0),
    measure: (testbed) => measureCpu(testbed, asked(path), { COUNTERS }),
  }),
)

/** The processor time of what strangers may ask for. */
export const publicRequests: Topic = {
  name: 'public-requests',
  title: 'What does the largest public request cost?',
  text:
    `The data is as above, and the counter has ${PENDING.toLocaleString('en-US')} pending slots. No request gets an answer that is already kept. [Security](../docs/security.md#what-a-public-request-costs) ` +
    'lists the rows that each reads.',
  mostRounds: 3,
  variants,
  columns: ['cpuMs', 'nativeMs', 'statements'],
  comparisons: variants.map(({ name }) => ({
    label: `CPU ms: ${name}`,
    figure: 'cpuMs' as const,
    of: name,
    target: { atMost: LIMIT_MS },
  })),
  // docs/security.md lists them.
  listed: false,
  findings({ runs }) {
    const times = variants.map(({ name }) => ({ name, ms: medianOf(runs, name, 'cpuMs') })).sort((a, b) => b.ms - a.ms)
    const [longest] = times as [(typeof times)[number]]
    return [
      `The longest of ${times.length} requests takes ${rounded(longest.ms)} ms of CPU time (${longest.name}), the median ${rounded(median(times.map(({ ms }) => ms)))} ms. The free plan allows ${LIMIT_MS}.`,
    ]
  },
}
