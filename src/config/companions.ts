import type { FieldError } from '../field-errors.ts'
import { type CounterType, DOWNLOAD_WINDOW_SECONDS } from './counter-types.ts'

/** The types in which the visits of a type count too: its `also`, the `also` of that, and so on. */
export function companionsOf(
  { also }: CounterType,
  types: readonly CounterType[],
  found: readonly CounterType[] = [],
): readonly CounterType[] {
  const next = types.find(({ name }) => name === also)
  return next === undefined || found.includes(next) ? found : companionsOf(next, types, [...found, next])
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

/** Types whose `also` cannot count the same visits, or whose `visitors_of` has no effect. */
export function wrongCompanions(types: ReadonlyMap<string, CounterType>): FieldError[] {
  const all = [...types.values()]
  return all.flatMap((type) => {
    const field = `COUNTERS.${type.name}`
    if (type.visitorsOf !== 'page' && all.every(({ also }) => also !== type.name)) {
      return [{ field: `${field}.visitors_of`, message: 'needs another type that names this one in `also`' }]
    }
    if (type.also === null) return []
    const problem = types.has(type.also)
      ? companionsOf(type, all)
          .map((other) => companionProblem(type, other))
          .find((message) => message !== null)
      : 'must be the name of another type'
    return problem === undefined ? [] : [{ field: `${field}.also`, message: problem }]
  })
}

function companionProblem(type: CounterType, other: CounterType): string | null {
  if (other === type) return 'must not lead back to its own type'
  const [own, named] = [`COUNTERS.${type.name}`, `COUNTERS.${other.name}`]
  const { visitorsOf } = other
  // The same key must be the same record id in both.
  if (visitorsOf === 'page' && other.key !== type.key) {
    return `needs a type with the same keys: ${own}.key and ${named}.key differ`
  }
  if (visitorsOf !== 'site' && spellingsOf(type) !== spellingsOf(other)) {
    return `needs a type with the same keys: ${own}.same_key and ${named}.same_key differ`
  }
  const seconds = other.dedupeSeconds ?? 0
  if (seconds === 0) return `needs a type that counts a visitor once: set ${named}.dedupe_seconds`
  const ownSeconds = type.dedupeSeconds ?? (type.redirectTo === null ? 0 : DOWNLOAD_WINDOW_SECONDS)
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
