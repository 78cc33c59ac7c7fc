import type { CounterType } from '../config/counter-types.ts'
import { InvalidInput } from '../counters/invalid-input.ts'
import { Problem } from './problem.ts'

/**
 * The prefix that a request names, in the spelling that is counted; `null` if it names none.
 *
 * @throws {InvalidInput} of field `prefix`, if the type does not declare it
 */
export function declaredPrefix(type: CounterType, asked: string | undefined): string | null {
  // The script sends an empty one for data-total without a value.
  if (asked === undefined || asked === '') return null
  // Of the spellings, only this one concerns the beginning of a key.
  const prefix = type.sameKey?.includes('letter_case') ? asked.toLowerCase() : asked
  if (type.totals.includes(prefix)) return prefix
  throw new InvalidInput('prefix', `is not declared: add it to totals in [vars.COUNTERS.${type.name}]`)
}

/** The problem while the sums of a prefix do not include what was counted before it was declared. */
export function totalsNotReady(): Problem {
  return new Problem('totals_not_ready', {
    detail: 'The roll-up is still adding what was counted before the prefix was declared. Try again in a minute.',
    headers: { 'Retry-After': '60' },
  })
}
