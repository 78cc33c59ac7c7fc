import * as v from 'valibot'
import { MAX_RANKED } from '../../counters/history/ranking.ts'
import { choice, limitField } from '../../openapi/fields.ts'
import { CHART_UNIT_NAMES, PERIOD_NAMES } from '../../periods.ts'
import type { Caller } from '../../service/caller.ts'
import type { ParametersOf } from '../../service/check-input.ts'
import { type ChosenPeriod, chosenPeriod } from '../../service/chosen-period.ts'

export const DEFAULT_ROWS = 10

export const numbersQuery = () => ({
  type: v.string(),
  key: v.optional(v.string()),
  period: v.optional(choice([...PERIOD_NAMES, 'custom']), '30d'),
  from: v.optional(v.string()),
  to: v.optional(v.string()),
  by: v.optional(choice(CHART_UNIT_NAMES)),
  tz: v.optional(v.string(), 'UTC'),
  find: v.optional(v.string(), ''),
  rows: limitField(MAX_RANKED, DEFAULT_ROWS, 'Maximum number of rows of the list'),
})

/** What a page of the dashboard shows: `tz` is the visitor's, and `find` is what somebody searches in the list. */
export type AskedNumbers = Omit<ParametersOf<typeof numbersQuery>, 'type' | 'key'>

/** How numbers are read: by whom, what was asked for, and when. */
export interface Source {
  caller: Caller
  asked: AskedNumbers
  now: Date
  /** Whether for a public page, which does not say how many keys there are. */
  isPublic: boolean
}

/** @throws {InvalidInput} if the period or the time zone is not valid */
export function periodOf({ asked: { period, from, to, by, tz }, now }: Source): ChosenPeriod {
  return chosenPeriod({ name: period, from, to, by }, tz, now)
}
