import { type Service, type ServiceOptions, TOKEN } from '../harness/service.ts'

/** The paid plan's, so that a run is bounded by what there is to do. */
export const SETTINGS = { ROLLUP: { page_slots: 2_000, max_statements: 10_000, max_seconds: 50 } }

/** The product with those settings. */
export const SERVICE: ServiceOptions = { worker: 'product', settings: SETTINGS }

/** Slots of each counter, unless it says otherwise. */
export const SLOTS_EACH = 10

/** A number as people read it. */
export const number = (value: number) => value.toLocaleString('en-US')

/** Leaves a database as a run leaves it that did not get to the end: the next one takes large pages from its beginning on. */
export async function leaveBehind({ server, database }: Pick<Service, 'server' | 'database'>): Promise<void> {
  await server.query(
    `UPDATE \`${database}\`.rollup_state SET cursor_record_type = 0, cursor_record_id = 0, cursor_slot = 0`,
  )
}

/** What a Worker says of a roll-up. */
export interface Summary {
  outcome: string
  moved: number
  statements: number
}

/** Asks a Worker to roll up everything. */
export async function askToRollUp(url: string, signal: AbortSignal): Promise<Summary> {
  const response = await fetch(`${url}/v1/rollup`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    signal,
  })
  if (!response.ok) throw new Error(`POST /v1/rollup: ${response.status} ${await response.text()}`)
  return (await response.json()) as Summary
}
