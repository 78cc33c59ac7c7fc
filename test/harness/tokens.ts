import { sha256 } from '../../src/tokens.ts'

/** A token as `npm run token` makes them, but always the same one for a name. */
export function tokenOf(name: string): string {
  return `slotted_${name.padEnd(43, '-')}`
}

/** The value of `API_TOKENS`: a line for each name, with its scope. */
export async function tokenLines(scopes: Record<string, string>): Promise<string> {
  const lines = Object.entries(scopes).map(async ([name, scope]) => `${name} ${scope} ${await sha256(tokenOf(name))}`)
  return (await Promise.all(lines)).join('\n')
}
