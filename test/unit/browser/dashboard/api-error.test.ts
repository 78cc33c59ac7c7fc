import { describe, expect, it } from 'vitest'
import { ApiError, KEEPS_TRYING, messageOf } from '../../../../src/browser/dashboard/api-error.ts'
import { PROBLEMS } from '../../../../src/openapi/problems.ts'

const DETAIL = 'What the API says to programs.'
const said = (code: string, field = '') =>
  messageOf(new ApiError(500, { code, detail: DETAIL, errors: [{ field }] }), KEEPS_TRYING)
const unexpected = /^The Worker answered \d+\./

describe('What a page says of an error', () => {
  it('has a sentence for every problem that a page can cause', () => {
    const codes = ['offline', 'no_answer', ...Object.keys(PROBLEMS)]
    expect(codes.filter((code) => unexpected.test(said(code)))).toEqual([
      ...[
        'malformed_body',
        'malformed_query',
        'malformed_key',
        'cross_site_request',
        'method_not_allowed',
        'count_not_below',
      ],
      // The page with the tables shows what the database refused.
      'setup_stopped',
      ...['body_too_large', 'unsupported_media_type', 'invalid_request', 'idempotency_key_reused', 'too_many_keys'],
    ])
    for (const code of codes) expect(said(code), code).not.toContain(DETAIL)
  })

  it('depends on the field, if what was asked is invalid', () => {
    for (const field of ['key', 'prefix']) expect(said('invalid_request', field)).toBe('No counter can have this key.')
    expect(said('invalid_request', 'from')).toMatch(/^These days cannot be shown\. Choose .* 999 days, up to today\.$/)
    expect(said('invalid_request', 'tz')).toMatch(unexpected)
  })

  it('ends with what happens next, which differs where the page asks again by itself', () => {
    const away = new ApiError(503, { code: 'database_unavailable' })
    expect(messageOf(away)).toBe('The database does not answer. Try again.')
    expect(messageOf(away, KEEPS_TRYING)).toBe('The database does not answer. This page updates as soon as it can.')
    expect(messageOf(new ApiError(502, {}))).toBe('The Worker answered 502. Try again.')
    expect(messageOf(new ApiError(401, { code: 'unauthorized' }), KEEPS_TRYING)).toBe('Sign in again.')
  })
})
