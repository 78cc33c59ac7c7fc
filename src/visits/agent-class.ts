/** Classes of user agents. What one network can leave in a counter and window is at most as many rows. */
export const AGENT_CLASSES = 64

/**
 * The class of a user agent, from 0 to 63. FNV-1a with a secret beginning, and the last step of MurmurHash3, which spreads agents
 * that differ in one letter over all classes. It need not be cryptographic: whoever knows it can fill 64 classes and no more.
 *
 * @param seed 32 bits of the salt, so that nobody else can tell the class
 */
export function classOf(agent: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5
  for (let i = 0; i < agent.length; i++) hash = Math.imul(hash ^ agent.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) & (AGENT_CLASSES - 1)
}
