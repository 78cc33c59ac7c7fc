/** The beginning of an IPv6 /48 that nothing was sent from yet: all files of a run share the local rate limits. */
export const unusedNetwork = () => `2001:${part()}:${part()}`

/** The same for an IPv4 /24: `${unusedIpv4Network()}.7` is an address. */
export const unusedIpv4Network = () => `${130 + random(60)}.${random(256)}.${random(256)}`

const part = () => (0x1000 + random(0xefff)).toString(16)
const random = (below: number) => crypto.getRandomValues(new Uint32Array(1))[0]! % below
