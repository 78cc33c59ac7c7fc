import { expect, it } from 'vitest'
import { ApiError, KEEPS_TRYING, messageOf } from '../../../../src/browser/dashboard/api-error.ts'

it('A page says what the Worker says of a problem, and what happens next if it may pass', () => {
  const away = new ApiError(503, { code: 'database_unavailable', detail: 'The database does not respond.' })
  expect(messageOf(away)).toBe('The database does not respond. Try again.')
  expect(messageOf(away, KEEPS_TRYING)).toBe('The database does not respond. This page updates as soon as it can.')
  expect(messageOf(new ApiError(409, { code: 'counter_exists', detail: 'It exists.' }))).toBe('It exists.')
  expect(messageOf(new ApiError(502, {}))).toBe('The Worker answered 502. Try again.')
})

it('A page has words of its own for what only it knows', () => {
  expect(messageOf(new ApiError(0, { code: 'offline' }), KEEPS_TRYING)).toMatch(/^You are offline\. This page/)
  expect(messageOf(new ApiError(401, { code: 'unauthorized', detail: 'Send a token.' }))).toBe('Sign in again.')
  // A retry might change something twice.
  expect(messageOf(new ApiError(0, { code: 'outcome_unknown' }))).toMatch(/Load the page again to see\.$/)
})
