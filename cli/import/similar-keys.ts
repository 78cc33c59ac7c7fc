import { SPELLINGS, type Spelling, spellingOf } from '../../src/counters/keys/key-address.ts'
import { withoutQuery } from './daily-counts.ts'
import { quoted } from './line-error.ts'

type Difference = Spelling | 'query'

const DIFFERENCES: Readonly<Record<Difference, string>> = {
  trailing_slash: 'a slash at the end',
  letter_case: 'letter case',
  index_file: 'an index file',
  query: 'a query or fragment',
}
/** Keys that are one key without their differences. */
interface Group {
  keys: Set<string>
  /** How many of them are imported. */
  imported: number
}

/**
 * Finds imported keys that differ from each other, or from counters that exist, only by spelling. They are probably one page
 * with several counters.
 */
export class SimilarKeys {
  readonly #sameKey: readonly Spelling[]
  readonly #groups = new Map<string, Group>()
  #hasQueries = false

  /** @param sameKey spellings that the type joins already */
  constructor(imported: Iterable<string>, sameKey: readonly Spelling[] = []) {
    this.#sameKey = sameKey
    for (const key of new Set([...imported].map((key) => spellingOf(key, sameKey)))) {
      const form = formOf(key)
      const group = this.#groups.get(form) ?? { keys: new Set(), imported: 0 }
      group.keys.add(key)
      group.imported++
      this.#groups.set(form, group)
      this.#hasQueries ||= withoutQuery(key) !== key
    }
  }

  /** Adds a counter that exists. */
  compare(key: string): void {
    this.#groups.get(formOf(key))?.keys.add(key)
  }

  /** How many keys have such others, and what joins them; `null` if none has. */
  summary(): string | null {
    const groups = [...this.#groups.values()].filter(({ keys }) => keys.size > 1)
    if (groups.length === 0) return null
    let count = 0
    const found = new Map<Difference, number>()
    for (const { keys, imported } of groups) {
      count += imported
      for (const difference of differencesOf([...keys])) found.set(difference, (found.get(difference) ?? 0) + imported)
    }
    const joined = SPELLINGS.filter((name) => found.has(name) || this.#sameKey.includes(name))
    const remedies = [
      ...(joined.length > this.#sameKey.length ? [`same_key = ${JSON.stringify(joined)}`] : []),
      ...(this.#hasQueries && found.has('query') ? ['--no-query'] : []),
    ]
    const by = [...found].map(([name, count]) => `${DIFFERENCES[name]} (${count})`).join(', ')
    const [one, other] = groups[0]!.keys
    return (
      `Not joined: ${count} ${count === 1 ? 'key that differs' : 'keys that differ'} from others only by ${by}, ` +
      `such as ${quoted(one!)} and ${quoted(other!)}.` +
      (remedies.length > 0 ? ` What joins them: ${remedies.join(' and ')}.` : '')
    )
  }
}

/** What similar keys have in common. */
function formOf(key: string): string {
  return spellingOf(withoutQuery(key), SPELLINGS)
}

/** The differences that must go before similar keys are one. */
function differencesOf(keys: readonly string[]): Difference[] {
  const areOne = (spelled: (key: string) => string) => new Set(keys.map(spelled)).size === 1
  const hasQuery = !areOne((key) => spellingOf(key, SPELLINGS))
  const spellings = SPELLINGS.filter((name) => {
    const others = SPELLINGS.filter((other) => other !== name)
    return !areOne((key) => spellingOf(hasQuery ? withoutQuery(key) : key, others))
  })
  return [...spellings, ...(hasQuery ? (['query'] as const) : [])]
}
