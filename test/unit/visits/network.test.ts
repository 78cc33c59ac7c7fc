import { describe, expect, it } from 'vitest'
import { isIn, networkOf, parseNetwork } from '../../../src/visits/network.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['fe80::', 'fe80:0:0:0::/64'],
  ['fe80::1%eth0', null],
  ['203.0.113.7:80', null],
  ['unknown', null],
  ['', null],
])('the network of %j is %s', (address, network) => {
  expect(networkOf(address, 'visitor')).toBe(network)
})

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2::1', '2001:db8:1:0::/56'],
  ['2001:db8:1:ff::1', '2001:db8:1:0::/56'],
  ['2001:db8:1:100::1', '2001:db8:1:100::/56'],
  ['unknown', null],
])('the subscriber of %j is %s', (address, network) => {
  expect(networkOf(address, 'subscriber')).toBe(network)
})

it.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2::1', '2001:db8:1:0::/48'],
  ['2001:db8:1:ff00::1', '2001:db8:1:0::/48'],
  ['unknown', null],
])('the wide network of %j is %s', (address, network) => {
  expect(networkOf(address, 'customer')).toBe(network)
})

describe('A network', () => {
  it.each<[string, string[], string[]]>([
    ['203.0.113.7', ['203.0.113.7', '::ffff:203.0.113.7'], ['203.0.113.6', '2001:db8::cb00:7107']],
    ['203.0.113.0/24', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
    ['203.0.113.77/24', ['203.0.113.0', '203.0.113.255'], ['203.0.112.255', '203.0.114.0']],
    ['198.51.100.128/25', ['198.51.100.128', '198.51.100.255'], ['198.51.100.127', '198.51.101.128']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::', '2001:db8::1', '::fffe:0:0']],
    ['2001:db8::/48', ['2001:db8::', '2001:db8:0:ffff:ffff::1'], ['2001:db8:1::', '2001:db9::', '203.0.113.7']],
    ['2001:db8:0:8000::/49', ['2001:db8:0:8000::', '2001:db8:0:ffff::'], ['2001:db8:0:7fff::']],
    ['2001:db8::7', ['2001:db8::7'], ['2001:db8::6', '2001:db8::']],
    ['::/0', ['::', '2001:db8::1', '203.0.113.7'], []],
    ['::ffff:203.0.113.0/120', ['203.0.113.9'], ['203.0.112.9']],
  ])('%s has its addresses and no others', (text, inside, outside) => {
    const network = parseNetwork(text)!
    for (const address of inside) expect(isIn([network], address), address).toBe(true)
    for (const address of outside) expect(isIn([network], address), address).toBe(false)
  })

  it.each([
    '',
    '/24',
    '203.0.113.0/',
    '203.0.113.0/33',
    '203.0.113.0/024',
    '203.0.113.0/-1',
    '203.0.113.0/24/8',
    '203.0.113.0/255.255.255.0',
    '203.0.113.*',
    '2001:db8::/129',
    '2001:db8::/1e1',
    '2001:db8::%eth0/64',
    'example.com',
    ' 203.0.113.7',
  ])('cannot be %j', (text) => {
    expect(parseNetwork(text)).toBeNull()
  })
})
