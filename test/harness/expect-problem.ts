import { expect } from 'vitest'

/** Checks the status and the code of a problem, and other fields that are given. */
export async function expectProblem(response: Response, status: number, code: string, more: object = {}) {
  expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, ...more })])
}
