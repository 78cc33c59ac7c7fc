import { describe, expect, it } from 'vitest'
import { asksForPart } from '../../../src/visits/download.ts'

describe('a byte range', () => {
  it.each([
    undefined,
    'bytes=0-',
    'bytes=0-2',
    'bytes=0-1023',
    'Bytes = 0-5',
    'bytes=00-5',
    'bytes=5-9, 0-4',
    'bytes=0-4,-5',
  ])('%j asks for the beginning', (header) => {
    expect(asksForPart(header)).toBe(false)
  })

  it.each(
    'bytes=0-0/bytes=0-1/bytes=00-01/bytes=0-0,-1/bytes=1-/bytes=1024-2047/bytes=-500/bytes=5-9,10-/bytes= 7 - 9/bytes=01-'.split(
      '/',
    ),
  )('%j asks for another part, or for the length', (header) => {
    expect(asksForPart(header)).toBe(true)
  })

  it('is ignored if the header is longer than any client needs, however it is made', () => {
    expect(asksForPart(`bytes=5-9,${' '.repeat(400)}10-`)).toBe(true)
    expect(asksForPart(`bytes=5-9,${' '.repeat(500)}10-`)).toBe(false)
  })

  it.each(['', 'bytes', 'bytes=', 'bytes=-', 'bytes=x-y', 'bytes=1-2-3', 'items=5-', 'bytes=5-,', '5-', 'bytes=1-x'])(
    '%j is invalid, so the whole file is requested',
    (header) => {
      expect(asksForPart(header)).toBe(false)
    },
  )
})
