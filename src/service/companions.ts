import type { CounterType } from '../config/counter-types.ts'

/** Of the types in which the visits of a type count too, those that have a counter with each of its keys. */
export function ofSameKey({ also }: CounterType): CounterType[] {
  return also.filter(({ visitorsOf }) => visitorsOf === 'page')
}

/**
 * The type whose figures a page shows beside those of a type: visitors of a counter's page, or those of the whole site.
 * @param types those that the page may show
 */
export function shownCompanion(
  { also }: CounterType,
  types: readonly CounterType[],
  of: 'counter' | 'type',
): CounterType | undefined {
  const shown = also.filter((type) => types.includes(type))
  const ofSite = of === 'type' ? shown.find(({ visitorsOf }) => visitorsOf === 'site') : undefined
  return ofSite ?? shown.find(({ visitorsOf }) => visitorsOf === 'page')
}

/** Whether the visits of another type count in this one: pages name only the other. */
export function isCompanion(type: CounterType, types: readonly CounterType[]): boolean {
  return types.some(({ also, bots }) => bots === type || also.includes(type))
}
