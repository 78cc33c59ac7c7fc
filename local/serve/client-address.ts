import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../../src/visits/network.ts'

/** Whether an address is that of a web server in front, whose headers tell who sent a request. */
export type IsTrusted = (address: string) => boolean

/**
 * Reads addresses and networks: `127.0.0.1, 172.16.0.0/12, fd00::/8`.
 *
 * @throws {Error} if a part is none of these, or a network of everybody
 */
export function readProxies(text: string): IsTrusted {
  const list = new BlockList()
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [address = '', bits, ...more] = part.split('/')
    const family = isIP(address)
    const prefix = bits === undefined ? (family === 4 ? 32 : 128) : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (family === 0 || prefix < 1 || prefix > (family === 4 ? 32 : 128) || more.length > 0)
      throw new Error(`"${part}" is not an address or a network, such as 127.0.0.1 or 172.16.0.0/12`)
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

/** The address of a TCP peer. A socket for both families shows IPv4 ones inside IPv6 ones. */
export function peerAddress(remoteAddress = ''): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

/**
 * The visitor's address: that of the peer, or if the peer is trusted, the last one in the header that is not trusted. What is before
 * it may be forged. 0.0.0.0 if a trusted peer on this machine names none: the Worker has no rate limits for this machine.
 *
 * @param header the header in which trusted proxies append the address of their peer, such as X-Forwarded-For
 */
export function clientAddress(peer: string, header: string | undefined, isTrusted: IsTrusted): string {
  const hops = (header ?? '').split(',')
  let address = peer
  while (isTrusted(address) && hops.length > 0) {
    const hop = withoutPort(hops.pop()!.trim())
    if (isIP(hop) === 0) return isLoopback(address) ? '0.0.0.0' : address
    address = peerAddress(hop)
  }
  return address
}

function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** The origin that the visitor asked for; `null` if there is none. A trusted proxy keeps Host: visitors may send X-Forwarded-Host. */
export function requestedOrigin(headers: IncomingHttpHeaders, isTrusted: boolean): string | null {
  const { host = 'localhost', 'x-forwarded-proto': scheme } = headers
  const isHttps = isTrusted && /^\s*https\s*(?:,|$)/i.test(String(scheme))
  return HOST.test(host) ? `${isHttps ? 'https' : 'http'}://${host}` : null
}
