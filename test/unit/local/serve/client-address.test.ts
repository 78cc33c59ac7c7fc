import { describe, expect, it } from 'vitest'
import { clientAddress, peerAddress, readProxies, requestedOrigin } from '../../../../local/serve/client-address.ts'

const isTrusted = readProxies('127.0.0.1, ::1 172.16.0.0/12,fd00::/8')

it('Trusted proxies are addresses and networks of both families', () => {
  const trusted = ['127.0.0.1', '::1', '172.31.255.254', 'fd12::3']
  const others = ['127.0.0.2', '172.32.0.1', '10.0.0.1', 'fe80::1', '', 'localhost']
  expect(trusted.filter(isTrusted)).toEqual(trusted)
  expect(others.filter(isTrusted)).toEqual([])
  expect(readProxies('  ')('127.0.0.1')).toBe(false)
})

it.each(['localhost', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', '0.0.0.0/0', '::/0', 'fd00::/129', '10.0.0'])(
  'A trusted proxy cannot be %s',
  (text) => {
    expect(() => readProxies(`127.0.0.1, ${text}`)).toThrow(`"${text}" is not an address or a network`)
  },
)

it.each([
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::1', '2001:db8::1'],
])('The peer %s is %s', (remote, address) => {
  expect(peerAddress(remote)).toBe(address)
})

describe("The visitor's address", () => {
  it.each([
    ['of a peer that is not trusted is its own', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['is what a trusted peer says', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['is the last that is not trusted', '127.0.0.1', '1.1.1.1, 198.51.100.1, 172.16.0.9', '198.51.100.1'],
    ['is the first if all are trusted', '127.0.0.1', '172.16.0.1, 172.16.0.2', '172.16.0.1'],
    ['is the peer without a header', '172.16.0.2', undefined, '172.16.0.2'],
    ['is nobody without a header from this machine', '127.0.0.1', undefined, '0.0.0.0'],
    ['is nobody without an address from this machine', '::1', 'unknown', '0.0.0.0'],
    ['is this machine if that is named', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['is the last known before what is no address', '127.0.0.1', '198.51.100.1, unknown, 172.16.0.2', '172.16.0.2'],
    ['may have a port', '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['may have a port and brackets', '::1', '[2001:db8::7]:443', '2001:db8::7'],
    ['may have brackets', '::1', '[2001:db8::7]', '2001:db8::7'],
    ['may be IPv4 inside IPv6', '::1', '::ffff:198.51.100.1', '198.51.100.1'],
  ])('%s', (_, peer, header, address) => {
    expect(clientAddress(peer, header, isTrusted)).toBe(address)
  })
})

it.each([
  ['its host', false, { host: 'a.example' }, 'http://a.example'],
  ['nothing that a stranger forwards', false, forwarded(), 'http://a.example'],
  ['what a trusted proxy forwards', true, forwarded(), 'https://a.example'],
  ['an IPv6 host', true, { host: '[::1]:8787' }, 'http://[::1]:8787'],
  ['no host with a path', true, { host: 'a.example/x' }, null],
  ['no host with a user', true, { host: 'a@b' }, null],
])('The origin of a request is %s', (_, isProxied, headers, origin) => {
  expect(requestedOrigin(headers, isProxied)).toBe(origin)
})

function forwarded() {
  return { host: 'a.example', 'x-forwarded-host': 'b.example:8443', 'x-forwarded-proto': 'https, http' }
}
