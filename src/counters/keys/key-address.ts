import { BoundedMap } from '../../bounded-map.ts'
import { InvalidInput } from '../../schemas.ts'
import { type CounterAddress, counterId } from '../counter-address.ts'
import { hash64 } from '../ids.ts'

/** The longest key, in bytes of UTF-8: the size of the column `name`. */
export const MAX_KEY_BYTES = 512

const encoder = new TextEncoder()
// A key may begin with a byte order mark.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What determines the addresses of a type's counters. */
export interface KeyedType {
  recordType: number
  /** Spellings that mean the same key. Default: none. */
  sameKey?: readonly Spelling[]
}

/** The address of the counter with a key. @throws {InvalidInput} of field `key`, if the type does not accept it */
export async function addressOfKey({ recordType, sameKey = [] }: KeyedType, spelled: string): Promise<CounterAddress> {
  const key = spellingOf(spelled, sameKey)
  if (key === '') throw invalidKey('must not be empty')
  if (isFolder(key)) throw invalidKey('must not be "." or "..", which paths cannot contain')
  // A UTF-16 code unit takes at most 3 bytes, so short keys need not be encoded.
  if (key.length > MAX_KEY_BYTES / 3) {
    const bytes = byteLength(key)
    if (bytes > MAX_KEY_BYTES) throw invalidKey(`must have at most ${MAX_KEY_BYTES} bytes of UTF-8, not ${bytes}`)
  }
  if (key.includes('\0')) throw invalidKey('must not contain NUL')
  if (!key.isWellFormed()) throw invalidKey('must be well-formed Unicode, without lone surrogates')
  return { recordType, recordId: await hash64(key), name: copied(key) }
}

/** Whether clients resolve a segment of a path. A counter with such a key could not be reached. */
export const isFolder = (segment: string) => segment === '.' || segment === '..'

/** The length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** A copy of a text that is kept: a part of a long URL would keep the whole URL in memory. */
export function copied(text: string): string {
  return decoder.decode(encoder.encode(text))
}

const invalidKey = (message: string) => new InvalidInput('key', message)

export const SPELLINGS = ['letter_case', 'index_file', 'trailing_slash'] as const

export type Spelling = (typeof SPELLINGS)[number]

/** Names that web servers give to the page of a folder. */
const INDEX_FILE = /\/index\.(?:html?|php)$/

/** The spelling under which a key is counted, as far as `spellings` says. Never empty, and its own spelling: stored names can be keys. */
export function spellingOf(key: string, spellings: readonly Spelling[]): string {
  let spelled = spellings.includes('letter_case') ? key.toLowerCase() : key
  for (let before = ''; before !== spelled; ) {
    before = spelled
    if (spellings.includes('index_file')) spelled = spelled.replace(INDEX_FILE, '/')
    if (spellings.includes('trailing_slash') && spelled !== '/' && spelled.endsWith('/')) spelled = spelled.slice(0, -1)
  }
  return spelled
}

/** The escapes of one character in UTF-8, as far as a pattern can tell. Behind a stray `%`, a decoded digit would make another escape. */
const ESCAPED_CHARACTER = /(?<!%\w?)%[0-7]\w|%[cd]\w%[89ab]\w|%e\w(?:%[89ab]\w){2}|%f\w(?:%[89ab]\w){3}/gi

/** Characters that would change the meaning of the path, or of its query, or that nobody could see. */
const KEPT_ESCAPED = /[/?#%]|\p{Cc}/u
const KEPT_IN_QUERY = /[#%&=+]|\p{Cc}/u

/** Ids that servers put into paths for visitors without cookies: `;jsessionid=A1`. */
const SESSION_ID = /;(?:jsessionid|phpsessid|sessionid|sid)=[^;/?#]*/gi

/** What a path has that its key may not: escapes, parameters, and characters with two spellings in Unicode. */
const SPELLED = /[%;]|[\u0300-\uffff]/

/** A path without session ids: each would be a counter of its own. */
export const withoutSession = (path: string) => (path.includes(';') ? path.replace(SESSION_ID, '') : path)

/**
 * The key of a page: its path as people read it, in Unicode's composed form (NFC), without session ids. Escapes are decoded if they are
 * valid UTF-8 and do not stand for `/`, `?`, `#`, `%` or a control character; in a query, for `&`, `=` or `+` instead of the first two.
 * Those that remain have capital digits. So `/caf%C3%A9`, `/caf%c3%a9` and `/café` are one page. The key of a key is the same key.
 * @param path that of a URL or a log line, or what a page sends, perhaps with its query; not a key that a program names
 */
export function pageKey(path: string): string {
  // Each hit asks, and most paths have nothing of it.
  if (!SPELLED.test(path)) return path
  const at = path.indexOf('?')
  if (at === -1) return withoutSession(decoded(path, KEPT_ESCAPED))
  return withoutSession(decoded(path.slice(0, at), KEPT_ESCAPED)) + decoded(path.slice(at), KEPT_IN_QUERY)
}

function decoded(text: string, kept: RegExp): string {
  const read = text.replace(ESCAPED_CHARACTER, (escaped) => {
    try {
      const character = decodeURIComponent(escaped)
      return kept.test(character) ? escaped.toUpperCase() : character
    } catch {
      return escaped
    }
  })
  return read.normalize()
}

/** Longer keys are hashed each time, so that the cache takes up a few megabytes at most. */
const MAX_KEY_LENGTH = 200

/** Caches addresses: hashing takes longer than anything else about a hit. Plain data, bounded, shared by requests. */
export class AddressCache {
  readonly #addresses = new BoundedMap<CounterAddress>(10_000)

  cached(type: KeyedType, key: string): CounterAddress | undefined {
    return this.#addresses.get(`${type.recordType} ${key}`)
  }

  /** The address of a key. @throws {InvalidInput} if the type does not accept the key */
  async find(type: KeyedType, key: string): Promise<CounterAddress> {
    const known = this.cached(type, key)
    if (known !== undefined) return known
    const address = await addressOfKey(type, key)
    // Writing a large number as text takes long. Not enumerable: a spread copy, perhaps of another type, must not have it.
    Object.defineProperty(address, 'id', { value: counterId(address) })
    if (key.length <= MAX_KEY_LENGTH) this.#addresses.set(`${type.recordType} ${copied(key)}`, address)
    return address
  }
}
