import { describe, expect, it } from 'vitest'
import { asksForPart } from '../../../src/visits/download.ts'

describe('a byte range', () => {
  const headers = (text: string) => text.split('/').map((range) => `bytes=${range}`)
  it.each([undefined, 'Bytes = 0-5', ...headers('0-/0-2/0-1023/00-5/5-9, 0-4/0-4,-5')])(
    '%j asks for the beginning',
    (header) => {
      expect(asksForPart(header)).toBe(false)
    },
  )

  it.each(headers('0-0/0-1/00-01/0-0,-1/1-/1024-2047/-500/5-9,10-/ 7 - 9/01-'))('%j asks for no download', (header) => {
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
