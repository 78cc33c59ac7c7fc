import type { Operation } from '../../src/openapi/contract.ts'

/**
 * The contracts of routes, in the order of their paths.
 * @param files the modules of `src/routes/`, which export them as `…Contract`
 */
export function contractsOf(files: readonly object[]): Operation[] {
  const exported = files.flatMap((file) => Object.entries(file) as [string, () => Operation][])
  const contracts = exported.filter(([name]) => name.endsWith('Contract')).map(([, make]) => make())
  return contracts.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1))
}
