/** The eight groups of an IPv6 address, 16 bits each. An IPv4 address is the IPv6 address to which it is mapped, ::ffff:a.b.c.d. */
export type Address = readonly number[]

/** The longest notation of an address: six groups and an IPv4 address. */
const MAX_LENGTH = 45
const BYTE = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`)
const GROUP = /^[\da-f]{1,4}$/i

/**
 * Reads an IP address. The notations of RFC 4291, section 2.2, and dotted decimals without leading zeros are accepted; ports, zone
 * ids, brackets and spaces are not.
 *
 * @returns `null` if the text is anything else
 */
export function parseAddress(text: string): Address | null {
  if (text.length > MAX_LENGTH) return null
  const ipv4 = ipv4Groups(text)
  if (ipv4 !== null) return [0, 0, 0, 0, 0, 0xffff, ...ipv4]
  const [head, tail, ...more] = text.split('::')
  if (head === undefined || more.length > 0) return null
  const before = groupsOf(head, tail === undefined)
  if (tail === undefined) return before?.length === 8 ? before : null
  const after = groupsOf(tail, true)
  if (before === null || after === null) return null
  // Two colons stand for at least one group.
  const missing = 8 - before.length - after.length
  return missing < 1 ? null : [...before, ...Array<number>(missing).fill(0), ...after]
}

/** Whether an address is an IPv4 address. */
export function isIpv4(address: Address): boolean {
  return address[5] === 0xffff && address.every((group, i) => i >= 5 || group === 0)
}

/** @param last whether these groups are the last ones, which may be written as an IPv4 address */
function groupsOf(text: string, last: boolean): number[] | null {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    const ipv4 = last && i === parts.length - 1 ? ipv4Groups(part) : null
    if (ipv4 !== null) groups.push(...ipv4)
    else if (GROUP.test(part)) groups.push(Number.parseInt(part, 16))
    else return null
  }
  return groups
}

function ipv4Groups(text: string): [number, number] | null {
  const match = IPV4.exec(text)
  if (match === null) return null
  const [a = 0, b = 0, c = 0, d = 0] = match.slice(1).map(Number)
  return [(a << 8) | b, (c << 8) | d]
}
