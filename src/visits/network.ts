import { type Address, isIpv4, parseAddress } from './address.ts'

/** The addresses that begin with the same bits. */
export interface Network {
  address: Address
  /** How many bits, of the 128 of an `Address`. */
  bits: number
}

/** Bits in front of an IPv4 address in an `Address`. */
const IPV4_PREFIX = 96

/**
 * The network of a visitor: an IPv4 address itself, or the first 64 bits of an IPv6 address. A subscriber gets at least a /64, and
 * may use another address of it for each request (RFC 6177; RFC 8981).
 *
 * @param address an IPv4 or IPv6 address in any notation
 * @returns the same text for all notations; `null` if the text is no address
 */
export function networkOf(address: string): string | null {
  return prefixOf(address, 64)
}

/**
 * The network of a subscriber, for limits: as `networkOf`, but the first 56 bits of an IPv6 address, which is what a home line gets
 * (RFC 6177).
 */
export function subscriberOf(address: string): string | null {
  return prefixOf(address, 56)
}

function prefixOf(address: string, ipv6Bits: 56 | 64): string | null {
  const groups = parseAddress(address)
  if (groups === null) return null
  if (!isIpv4(groups)) {
    const [a, b, c, d] = groups as [number, number, number, number]
    const first = [a, b, c, ipv6Bits === 56 ? d & 0xff00 : d].map((group) => group.toString(16))
    return `${first.join(':')}::/${ipv6Bits}`
  }
  const [high, low] = groups.slice(6) as [number, number]
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/**
 * Reads a network such as `203.0.113.0/24` or `2001:db8::/48`, or a single address.
 *
 * @returns `null` if the text is anything else
 */
export function parseNetwork(text: string): Network | null {
  const [, written = '', length] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = parseAddress(written)
  if (address === null) return null
  // ::ffff:0:0/96 is IPv4 too, but its bits are those of IPv6.
  const prefix = written.includes(':') ? 0 : IPV4_PREFIX
  const bits = length === undefined ? 128 : prefix + Number(length)
  return bits > 128 ? null : { address, bits }
}

/** Whether an address is in a network. */
export function contains({ address: first, bits }: Network, address: Address): boolean {
  return first.every((group, i) => {
    const ignored = 16 - Math.min(16, Math.max(0, bits - 16 * i))
    return group >> ignored === address[i]! >> ignored
  })
}
