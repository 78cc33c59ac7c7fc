import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../../src/visits/network.ts'

describe('An address', () => {
  it.each<[string, number[]]>([
    ['203.0.113.7', [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107]],
    ['::ffff:203.0.113.7', [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107]],
    ['::FFFF:cb00:7107', [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107]],
    ['0:0:0:0:0:ffff:203.0.113.7', [0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7107]],
    ['2001:db8::1', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]],
    ['2001:0DB8:0000:0000:0000:0000:0000:0001', [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['64:ff9b::192.0.2.33', [0x64, 0xff9b, 0, 0, 0, 0, 0xc000, 0x221]],
  ])('may be %s', (text, groups) => {
    expect(parseAddress(text)).toEqual(groups)
  })

  const split = (texts: string) => texts.split(' ')
  it.each([
    '',
    ' ',
    ' 203.0.113.7',
    '203.0.113.7 ',
    '203.0.113.7, 198.51.100.1',
    ...split('203.0.113.7:443 203.0.113.256 203.0.113.07 203.0.113 203.0.113.7.1 0x7f.0.0.1 2130706433 -1.0.0.0'),
    ...split('2001:db8::1%eth0 [2001:db8::1] [2001:db8::1]:443 2001:db8::1/64 2001:db8::1::2 2001:db8:::1 : :::'),
    ...split(':1:2:3:4:5:6:7 1:2:3:4:5:6:7: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4::5:6:7:8 12345:: 2001:db8::g'),
    ...split('203.0.113.7:: ::203.0.113.7:1 1:2:3:4:5:6:7:203.0.113.7 unknown _hidden ２０３.0.113.7'),
    '1:'.repeat(100_000),
    '0'.repeat(1_000_000),
  ])('cannot be %#: %.40s', (text) => {
    expect(parseAddress(text)).toBeNull()
  })

  it('is the same in every notation of its groups', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
    const groups = fc.array(group, { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, fc.nat(7), fc.nat(7), (groups, from, more) => {
        const hex = groups.map((group) => group.toString(16))
        const to = Math.min(8, from + more + 1)
        const zeros = groups.slice(from, to).every((group) => group === 0)
        const [a, b] = groups.slice(6) as [number, number]
        const notations = [
          hex.join(':'),
          hex.map((text) => text.padStart(4, '0').toUpperCase()).join(':'),
          `${hex.slice(0, 6).join(':')}:${[a >> 8, a & 255, b >> 8, b & 255].join('.')}`,
          ...(zeros ? [`${hex.slice(0, from).join(':')}::${hex.slice(to).join(':')}`] : []),
        ]
        for (const notation of notations) expect(parseAddress(notation), notation).toEqual(groups)
      }),
    )
  })

  it('never throws, whatever the text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f.:%/[\] ]{0,50}$/))
    fc.assert(fc.property(text, (text) => [null, 8].includes(parseAddress(text)?.length ?? null)))
  })
})
