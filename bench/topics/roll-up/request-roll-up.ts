import { type DeploymentOptions, TOKEN } from '../../harness/deployment.ts'

/** The product on the paid plan, so that a run ends when everything is moved. */
export const DEPLOYMENT: DeploymentOptions = { worker: 'product', settings: { PLAN: 'paid' } }

/** Slots of each counter, unless stated otherwise. */
export const SLOTS_EACH = 10

/** A number as people read it. */
export const number = (value: number) => value.toLocaleString('en-US')

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
