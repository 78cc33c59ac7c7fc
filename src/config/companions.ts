import type { FieldError } from '../schemas.ts'
import { type CounterType, DEFAULT_WINDOWS, OTHER_RULE } from './counter-types.ts'

/** The types in which the visits of a type count too: its `also`, the `also` of that, and so on. */
export function companionsOf(
  { also }: CounterType,
  types: readonly CounterType[],
  found: readonly CounterType[] = [],
): readonly CounterType[] {
  const next = types.find(({ name }) => name === also)
  return next === undefined || found.includes(next) ? found : companionsOf(next, types, [...found, next])
}

/** Of these, the types that count the visitors of each key: they have a counter with the key of each counter of the type. */
export function ofSameKey(type: CounterType, types: readonly CounterType[]): CounterType[] {
  return companionsOf(type, types).filter(({ visitorsOf }) => visitorsOf === 'page')
}

/** The type whose figures a page shows beside those of a type: visitors of a counter's page, or those of the whole site. */
export function shownCompanion(
  type: CounterType,
  types: readonly CounterType[],
  of: 'counter' | 'type',
): CounterType | undefined {
  const also = companionsOf(type, types)
  const ofSite = of === 'type' ? also.find(({ visitorsOf }) => visitorsOf === 'site') : undefined
  return ofSite ?? also.find(({ visitorsOf }) => visitorsOf === 'page')
}

/** Whether the visits of another type count in this one: pages name only the other. */
export function isCompanion({ name }: CounterType, types: readonly CounterType[]): boolean {
  return types.some(({ also, bots }) => also === name || bots === name)
}

/**
 * The types without an `also` or `bots` that cannot count their visits. What is wrong is listed in `mistakes`, as is a
 * `visitors_of` that has no effect.
 * @param declared the names of all types, of which some may have been left out for their own mistakes
 */
export function withCompanions(
  types: ReadonlyMap<string, CounterType>,
  declared: ReadonlySet<string>,
  mistakes: FieldError[],
): ReadonlyMap<string, CounterType> {
  const all = [...types.values()]
  const allDeclared = declared.size === types.size
  for (const type of all) {
    const wrong = (name: string, message: string | null) => {
      if (message !== null) mistakes.push({ field: `COUNTERS.${type.name}.${name}`, message })
    }
    const isNamed = all.some(({ also }) => also === type.name)
    if (type.visitorsOf !== 'page' && !isNamed && allDeclared) {
      wrong('visitors_of', 'needs another type that names this one in `also`')
      continue
    }
    const isLeftOut = (name: string | null) => name === null || (declared.has(name) && !types.has(name))
    wrong('also', isLeftOut(type.also) ? null : types.has(type.also!) ? alsoProblem(type, all) : OTHER_RULE)
    wrong('bots', isLeftOut(type.bots) ? null : botsProblem(type, types.get(type.bots!), all))
  }
  const usable = new Map(types)
  const current = () => [...usable.values()]
  // From the ends of the chains, so that a link is dropped only for its own mistake.
  const ends = all.toSorted((one, other) => companionsOf(one, all).length - companionsOf(other, all).length)
  for (const type of ends) {
    const keeps = usable.has(type.also ?? '') && alsoProblem(type, current()) === null
    usable.set(type.name, { ...type, also: keeps ? type.also : null })
  }
  for (const type of current()) {
    if (botsProblem(type, usable.get(type.bots ?? ''), current()) !== null)
      usable.set(type.name, { ...type, bots: null })
  }
  return usable
}

function alsoProblem(type: CounterType, all: readonly CounterType[]): string | null {
  const problems = companionsOf(type, all).map((other) => companionProblem(type, other))
  return problems.find((problem) => problem !== null) ?? null
}

function botsProblem(type: CounterType, other: CounterType | undefined, all: readonly CounterType[]): string | null {
  if (other === undefined || other === type) return OTHER_RULE
  if (other.also !== null) return `cannot be chained: COUNTERS.${other.name} has \`also\` as well`
  // It would count bots among the visitors.
  if (all.some(({ also }) => also === other.name))
    return `needs a type that no other names in \`also\`: COUNTERS.${other.name}`
  return keysProblem(type, other)
}

/** The same key must be the same record id in both. */
function keysProblem(type: CounterType, other: CounterType): string | null {
  const [own, named] = [`COUNTERS.${type.name}`, `COUNTERS.${other.name}`]
  if (other.visitorsOf !== 'site' && spellingsOf(type) !== spellingsOf(other)) {
    return `needs a type with the same keys: ${own}.same_key and ${named}.same_key differ`
  }
  return null
}

function companionProblem(type: CounterType, other: CounterType): string | null {
  if (other === type) return 'must not lead back to its own type'
  const [own, named] = [`COUNTERS.${type.name}`, `COUNTERS.${other.name}`]
  const differing = keysProblem(type, other)
  if (differing !== null) return differing
  const seconds = other.dedupeSeconds ?? 0
  if (seconds === 0) return `needs a type that counts a visitor once: set ${named}.dedupe_seconds`
  const ownSeconds = type.dedupeSeconds ?? DEFAULT_WINDOWS[type.redirectTo === null ? 'page' : 'download']
  // Otherwise a repeat in this type could be new in the other.
  if (ownSeconds > 0 && seconds % ownSeconds !== 0) {
    const of = type.dedupeSeconds === null ? `the ${ownSeconds} seconds of downloads` : `${own}.dedupe_seconds`
    return `needs nested windows: ${named}.dedupe_seconds must be a multiple of ${of}`
  }
  return null
}

function spellingsOf({ sameKey = [] }: CounterType): string {
  return sameKey.toSorted().join()
}
