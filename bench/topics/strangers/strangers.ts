import { hash64 } from '../../../src/counters/ids.ts'
import type { Deployment } from '../../harness/deployment.ts'
import { type HttpVariant, httpVariant } from '../../harness/http-variant.ts'
import type { Comparison } from '../../report/comparison.ts'
import { medianOf, rounded } from '../../report/medians.ts'
import type { Topic } from '../../report/topic.ts'
import { GROUP_COMMIT } from '../write-strategies.ts'
import { ATTACK_PER_SECOND, ATTACKS, type Attack, attackUntil } from './attacks.ts'

const PAGE = '/blog/hello'
const ALONE = 'alone'
/** As shipped, with the budget of new keys that other benchmarks do not have. */
const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
  download: { record_type: 2, public: true, allowed_origins: ['*'], redirect_to: 'https://files.example/' },
}

/** What honest visitors do. */
const HONEST = [
  { name: 'hit', about: '`POST /hit`', method: 'POST', path: `/hit?type=page_view&key=${PAGE}`, counts: countOfPage },
  {
    name: 'exact read',
    about: '`GET /v1/counters/…` of the file that strangers download',
    method: 'GET',
    path: '/v1/counters/download/app.zip',
    counts: null,
  },
] as const

const named = (honest: string, attack: string) => `${honest}, ${attack}`

const variants = HONEST.flatMap(({ name, about, ...load }) =>
  [null, ...ATTACKS].map((attack: Attack | null) => {
    const variant: HttpVariant = {
      ...load,
      worker: GROUP_COMMIT.worker,
      name: named(name, attack?.name ?? ALONE),
      about: attack === null ? about : `${about}, beside ${attack.about}`,
      connections: 1,
      keys: 0,
      settings: { COUNTERS },
      ...(attack !== null && {
        background: ({ url }: Deployment, over: () => boolean) => attackUntil(over, url, attack),
      }),
    }
    return httpVariant(variant)
  }),
)

/** What honest visitors notice of strangers. */
export const strangers: Topic = {
  name: 'strangers',
  title: 'What do honest visitors notice of strangers?',
  text:
    `One honest client sends one request after another, while strangers send ${ATTACK_PER_SECOND} requests a second to the same isolate, without a rate limit and with the shipped ` +
    `budget of new keys. ${ATTACKS.map(({ name, about }) => `*${name[0]!.toUpperCase()}${name.slice(1)}*: ${about}`).join('. ')}.`,
  variants,
  columns: ['p50Ms', 'p99Ms', 'perSecond'],
  comparisons: HONEST.flatMap(({ name }) =>
    ATTACKS.map(
      (attack): Comparison => ({
        label: `median ms: ${name}, ${attack.name} vs. alone`,
        figure: 'p50Ms',
        of: named(name, attack.name),
        to: named(name, ALONE),
        target: { atMost: 2 },
      }),
    ),
  ),
  findings({ runs }) {
    const ms = (honest: string, attack: string) => rounded(medianOf(runs, named(honest, attack), 'p50Ms'))
    return HONEST.map(
      ({ name }) =>
        `The median ${name} takes ${ms(name, ALONE)} ms alone, and during attacks ${ATTACKS.map((attack) => `${ms(name, attack.name)} ms (${attack.name})`).join(', ')}.`,
    )
  },
}

/** The count of the page that honest visitors see. */
async function countOfPage({ server, database }: Deployment): Promise<number> {
  const [row] = await server.query(
    `SELECT COALESCE(SUM(count), 0) AS sum FROM \`${database}\`.slotted_counters
     WHERE record_type = 1 AND record_id = ${await hash64(PAGE)}`,
  )
  return Number(row!.sum)
}
