import { describe, expect, it } from 'vitest'
import { contracts } from '../../scripts/openapi/contracts.ts'
import { openApiDocument } from '../../scripts/openapi/document.ts'
import { hitProblems } from '../../scripts/openapi/problems.ts'
import { HIT_REASONS } from '../../src/hit-reasons.ts'

/** What these tests read of a response in the OpenAPI document. */
interface Described {
  headers?: { 'X-Hit'?: { description: string; schema: { pattern: string } } }
  content?: {
    'application/problem+json'?: { schema: { allOf: [unknown, { properties: { code: { enum: string[] } } }] } }
  }
}

/** The codes of problem documents that come with `X-Hit`, except `outcome_unknown`: it says `unknown`. */
function codesWithHit(): Set<string> {
  const codes = new Set<string>()
  for (const methods of Object.values(openApiDocument(contracts()).paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const { headers, content } of Object.values(responses) as Described[]) {
        if (headers?.['X-Hit'] === undefined) continue
        for (const code of content?.['application/problem+json']?.schema.allOf[1].properties.code.enum ?? []) {
          codes.add(code)
        }
      }
    }
  }
  codes.delete('outcome_unknown')
  return codes
}

const REASONS = [...Object.keys(HIT_REASONS), ...hitProblems()]

describe('The reasons of X-Hit', () => {
  it('have every problem with which a request that counts can be refused, and no other', () => {
    // A counting badge is an image, so its contract lists no problems.
    const codes = codesWithHit().add('too_many_requests')
    expect(codes.size).toBeGreaterThan(15)
    expect(hitProblems().sort()).toEqual([...codes].sort())
  })

  it('of visits say what they mean and what to do, in short sentences', () => {
    for (const [reason, { cause, advice }] of Object.entries(HIT_REASONS)) {
      for (const sentence of [cause, advice]) {
        expect(sentence, reason).toMatch(/^[A-Z_a-z].*\.$/)
        expect(sentence.length, sentence).toBeLessThanOrEqual(110)
      }
    }
  })

  it('are what the OpenAPI document says of X-Hit', () => {
    const { responses } = openApiDocument(contracts()).paths['/hit']!.post!
    const { description, schema } = (responses['204'] as Described).headers!['X-Hit']!
    const pattern = new RegExp(schema.pattern)
    for (const reason of REASONS) {
      expect(description).toContain(`\`${reason}\``)
      expect(`ignored; reason=${reason}`).toMatch(pattern)
    }
    expect('ignored; reason=outcome_unknown').not.toMatch(pattern)
    expect('counted').toMatch(pattern)
  })
})
