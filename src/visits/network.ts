/**
 * The network to which a rate limit applies: an IPv4 address itself, or the first 64 bits of an IPv6 address. A subscriber gets at
 * least a /64, and may use another address of it for each request (RFC 6177; RFC 8981).
 *
 * @param address an IPv4 or IPv6 address in any notation
 */
export function networkOf(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+(?:\.\d+){3})$/i.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':')
    // An IPv4 address at the end takes the place of two groups.
    const taken = groups.length + after.length + (tail.includes('.') ? 1 : 0)
    groups.push(...Array<string>(Math.max(0, 8 - taken)).fill('0'), ...after)
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${network.join(':')}::/64`
}
