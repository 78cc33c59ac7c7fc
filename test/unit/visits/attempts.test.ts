import { describe, expect, it } from 'vitest'
import { MAX_TOKEN_ATTEMPTS, TokenAttempts } from '../../../src/visits/rate-limit.ts'

const MINUTE = 60_000
const NOON = 30_000_000 * MINUTE

/** Takes all attempts of a network. */
function takeAll(attempts: TokenAttempts, network: string, at: number): void {
  for (let i = 0; i < MAX_TOKEN_ATTEMPTS; i++) expect(attempts.take(network, at)).toBe(0)
}

describe('The attempts of a network', () => {
  it('are limited for the rest of the minute, and others have their own', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON + 1_000)
    expect(attempts.take('a', NOON + 1_000)).toBe(59)
    expect(attempts.take('a', NOON + MINUTE - 1)).toBe(1)
    expect(attempts.take('b', NOON + 1_000)).toBe(0)
    expect(attempts.take('a', NOON + MINUTE)).toBe(0)
  })

  it('that are refused do not make the wait longer', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON)
    for (let i = 0; i < 1_000; i++) attempts.take('a', NOON)
    takeAll(attempts, 'a', NOON + MINUTE)
  })

  it('begin anew when the clock jumps back, instead of waiting for it', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON + 60 * MINUTE)
    takeAll(attempts, 'a', NOON)
    expect(attempts.take('a', NOON)).toBe(60)
  })

  it('are forgotten, not piled up, when a stranger has very many networks', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'first', NOON)
    for (let i = 0; i < 20_000; i++) attempts.take(`network ${i}`, NOON)
    expect(attempts.take('first', NOON)).toBe(0)
  })
})
