import { describe, expect, it } from 'vitest'
import { MAX_TOKEN_ATTEMPTS, TokenAttempts } from '../../../src/visits/rate-limit.ts'

const MINUTE = 60_000
const NOON = 30_000_000 * MINUTE

/** Takes all attempts of a network. */
function takeAll(attempts: TokenAttempts, network: string, at: number): void {
  for (let i = 0; i < MAX_TOKEN_ATTEMPTS; i++) expect(attempts.isExceeded(network, at)).toBe(false)
}

describe('The attempts of a network', () => {
  it('are limited for the rest of the minute, and others have their own', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON + 1_000)
    expect(attempts.isExceeded('a', NOON + 1_000)).toBe(true)
    expect(attempts.isExceeded('a', NOON + MINUTE - 1)).toBe(true)
    expect(attempts.isExceeded('b', NOON + 1_000)).toBe(false)
    expect(attempts.isExceeded('a', NOON + MINUTE)).toBe(false)
  })

  it('that are refused do not make the wait longer', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON)
    for (let i = 0; i < 1_000; i++) attempts.isExceeded('a', NOON)
    takeAll(attempts, 'a', NOON + MINUTE)
  })

  it('start over when the clock jumps back', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'a', NOON + 60 * MINUTE)
    takeAll(attempts, 'a', NOON)
    expect(attempts.isExceeded('a', NOON)).toBe(true)
  })

  it('are forgotten, not piled up, when a stranger has very many networks', () => {
    const attempts = new TokenAttempts()
    takeAll(attempts, 'first', NOON)
    for (let i = 0; i < 20_000; i++) attempts.isExceeded(`network ${i}`, NOON)
    expect(attempts.isExceeded('first', NOON)).toBe(false)
  })
})
