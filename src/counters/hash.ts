const encoder = new TextEncoder()

/**
 * The 64-bit hash that stands for a text in the database: the first 8 bytes of its SHA-256, big-endian. A cryptographic
 * hash, because keys come from strangers: nobody can craft a key that lands on another one's counter. Among a hundred
 * million keys the chance that any two meet is 1 in 3,700 (birthday bound, n² / 2⁶⁵).
 */
export async function hash64(text: string): Promise<bigint> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text))
  return new DataView(digest).getBigUint64(0)
}
