import type { DocumentedOperation, Example } from './example.ts'
import { CHANGING_EXAMPLES } from './examples/changing.ts'
import { COUNTING_EXAMPLES } from './examples/counting.ts'
import { IMAGE_EXAMPLES } from './examples/images.ts'
import { OPERATING_EXAMPLES } from './examples/operating.ts'
import { READING_EXAMPLES } from './examples/reading.ts'
import { type RouteContract, routeContracts } from './route-contracts.ts'

const EXAMPLES: Record<RouteContract['id'], Readonly<Record<string, Example>>> = {
  ...COUNTING_EXAMPLES,
  ...CHANGING_EXAMPLES,
  ...READING_EXAMPLES,
  ...IMAGE_EXAMPLES,
  ...OPERATING_EXAMPLES,
  docs: { page: { summary: 'The page', says: { 'Cache-Control': 'public, max-age=300' } } },
}

/** The contracts of routes with their examples, in the order of their paths. */
export function contracts(): DocumentedOperation[] {
  return routeContracts()
    .map((contract) => ({ ...contract, examples: EXAMPLES[contract.id] }))
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1))
}
