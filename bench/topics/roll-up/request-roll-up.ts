import { type Deployment, type DeploymentOptions, TOKEN } from '../../harness/deployment.ts'

/** The paid plan's limits, so that a run ends when everything is moved. */
export const SETTINGS = { ROLLUP: { page_slots: 2_000, max_statements: 10_000, max_seconds: 50 } }

/** The product with these settings. */
export const DEPLOYMENT: DeploymentOptions = { worker: 'product', settings: SETTINGS }

/** Slots of each counter, unless stated otherwise. */
export const SLOTS_EACH = 10

/** A number as people read it. */
export const number = (value: number) => value.toLocaleString('en-US')

/** Leaves the database as an unfinished run does, so that the next run uses large pages from the beginning. */
export async function simulateUnfinishedRun({
  server,
  database,
}: Pick<Deployment, 'server' | 'database'>): Promise<void> {
  await server.query(
    `UPDATE \`${database}\`.rollup_state SET cursor_record_type = 0, cursor_record_id = 0, cursor_slot = 0`,
  )
}

/** A Worker's response to a roll-up request. */
export interface Summary {
  outcome: string
  moved: number
  statements: number
}

/**
 * Asks a Worker to roll up everything.
 *
 * @param path of the request. Default: the product's
 */
export async function requestRollUp(url: string, signal: AbortSignal, path = '/v1/rollup'): Promise<Summary> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    signal,
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Summary
}
