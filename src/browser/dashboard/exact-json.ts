/** A whole number from the API; a string if a JavaScript number would round it. */
export type Count = number | string

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

/** Parses JSON without rounding: whole numbers of 16 or more digits become strings, because counts go up to 2^63. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)))
}
