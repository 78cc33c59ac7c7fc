import { expect } from 'vitest'
import { type TestWorker, TOKEN } from './worker.ts'

const ORIGIN = 'https://counter.test'

/** The headers that a browser sends with a form or a script of the dashboard's own pages. */
export const SAME_SITE = { 'Sec-Fetch-Site': 'same-origin', Origin: ORIGIN }

/** Sends the sign-in form. */
export function signIn(worker: TestWorker, token: string, { headers = SAME_SITE, next = '/', origin }: SignIn = {}) {
  return worker.fetchAt(origin ?? ORIGIN, '/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ token, next }).toString(),
  })
}

interface SignIn {
  headers?: Record<string, string>
  next?: string
  /** The address of the Worker, if it is another one. */
  origin?: string
}

/** Signs in, and returns the `Cookie` header that a browser then sends. */
export async function sessionCookie(worker: TestWorker, token = TOKEN, options: SignIn = {}): Promise<string> {
  const response = await signIn(worker, token, options)
  expect(response.status).toBe(303)
  return response.headers.get('Set-Cookie')!.split(';')[0]!
}
