/** What a type counts: its settings `unit`, in the plural, and `unit_one`. */
export interface Unit {
  unit: string
  unitOne: string | null
}

/** A count with its unit: "1 view", "2 views"; without a singular "views: 1". @param digits the count in the language of its reader */
export function withUnit(digits: string, count: bigint, { unit, unitOne }: Unit): string {
  if (count !== 1n && count !== -1n) return `${digits} ${unit}`
  return unitOne === null ? `${unit}: ${digits}` : `${digits} ${unitOne}`
}
