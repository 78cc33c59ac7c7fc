/** The eight 16-bit groups of an IPv6 address. An IPv4 address is mapped to ::ffff:a.b.c.d. */
export type Address = readonly number[]

const BYTE = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`)
/** Characters of an IPv6 address: the longest has six groups and an IPv4 address. */
const IPV6 = /^[\da-f:.]{2,45}$/i

/** Reads an IP address in the notations of RFC 4291, section 2.2, or in dotted decimals without leading zeros; `null`: it is none. */
export function parseAddress(text: string): Address | null {
  const bytes = IPV4.exec(text)
  if (bytes !== null) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(1).map(Number)
    return [0, 0, 0, 0, 0, 0xffff, (a << 8) | b, (c << 8) | d]
  }
  // In a URL, every notation becomes the short one: no IPv4 address, and two colons for at least two groups of zeros.
  const url = IPV6.test(text) ? URL.parse(`http://[${text}]`) : null
  if (url === null) return null
  const [before, after] = url.hostname
    .slice(1, -1)
    .split('::')
    .map((groups) => (groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16))))
  if (after === undefined) return before!
  return [...before!, ...Array<number>(8 - before!.length - after.length).fill(0), ...after]
}

function isIpv4(address: Address): boolean {
  return address[5] === 0xffff && address.every((group, i) => i >= 5 || group === 0)
}

/** The addresses that begin with the same bits, of the 128 of an `Address`. */
export interface Network {
  address: Address
  bits: number
}

/** Whether an address is this machine's, as under `npm start` and `wrangler dev`. Cloudflare never reports one. */
export function isLoopback(address: string): boolean {
  return /^(?:127\.|::1$)/.test(address)
}

/** localhost, 127.*.*.* (no public name begins so and ends in a digit) and [::1]. Short, because the beacon has the same expression. */
export const LOCAL_HOST = /.::1.|127.*\d|localhost/

/** Whether a host, as URLs name it, is this machine. */
export function isLocalHost(hostname: string): boolean {
  return hostname.replace(LOCAL_HOST, '') === ''
}

/** The first bits that are one visitor, subscriber or maybe customer: a /64, at home a /56, a company's /48 (RFC 6177, RFC 8981). */
const WIDTHS = { visitor: [32, 64], subscriber: [32, 56], customer: [24, 48] } as const

/** The network of an address: the same text for all its notations; `null` if the text is no address. */
export function networkOf(address: string, of: keyof typeof WIDTHS): string | null {
  const [ipv4, ipv6] = WIDTHS[of]
  const groups = parseAddress(address)
  if (groups === null) return null
  if (!isIpv4(groups)) {
    const [a, b, c, d] = groups as [number, number, number, number]
    const first = [a, b, c, d & (0xffff << (64 - ipv6))].map((group) => group.toString(16))
    return `${first.join(':')}::/${ipv6}`
  }
  const [high, low] = groups.slice(6) as [number, number]
  const first = `${high >> 8}.${high & 255}.${low >> 8}`
  return ipv4 === 32 ? `${first}.${low & 255}` : `${first}.0/24`
}

/** Reads a network such as `203.0.113.0/24` or `2001:db8::/48`, or a single address; `null` if the text is neither, or nearly everybody. */
export function parseNetwork(text: string): Network | null {
  const [, written = '', length] = /^([^/]*)(?:\/([89]|[1-9]\d{1,2}))?$/.exec(text) ?? []
  const address = parseAddress(written)
  if (address === null) return null
  // In ::ffff:0:0/96, which is IPv4 too, the bits are those of IPv6.
  const prefix = written.includes(':') ? 0 : 96
  const bits = length === undefined ? 128 : prefix + Number(length)
  return bits > 128 ? null : { address, bits }
}

/** Whether an address is in one of some networks. */
export function isIn(networks: readonly Network[], address: string | null): boolean {
  const groups = parseAddress(address ?? '')
  if (groups === null) return false
  return networks.some(({ address: first, bits }) =>
    first.every((group, i) => {
      const ignored = 16 - Math.min(16, Math.max(0, bits - 16 * i))
      return group >> ignored === groups[i]! >> ignored
    }),
  )
}
