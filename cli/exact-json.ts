/** A reviver for `JSON.parse` that returns numbers as their digits. JavaScript would round those beyond 2^53. */
export function numberDigits(_: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value
}
