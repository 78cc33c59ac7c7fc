/** A whole number from the API. It is a string if a JavaScript number would round it. */
export type Count = number | string

/** A string or a number in JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

/**
 * Parses JSON without rounding. JSON numbers may have any number of digits, and counts go up to 2^63.
 *
 * @returns the parsed value, with whole numbers of 16 or more digits as strings
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)))
}
