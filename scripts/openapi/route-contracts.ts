import * as badge from '../../src/routes/badge.ts'
import * as changes from '../../src/routes/changes.ts'
import * as lists from '../../src/routes/counter-lists.ts'
import * as counters from '../../src/routes/counters.ts'
import * as download from '../../src/routes/download.ts'
import * as hit from '../../src/routes/hit.ts'
import * as images from '../../src/routes/images.ts'
import * as increment from '../../src/routes/increment.ts'
import * as latest from '../../src/routes/latest.ts'
import * as maintenance from '../../src/routes/maintenance.ts'
import * as reference from '../../src/routes/reference.ts'
import * as setup from '../../src/routes/setup.ts'
import * as shown from '../../src/routes/shown.ts'
import * as status from '../../src/routes/status.ts'

const EXPORTS = {
  ...badge,
  ...changes,
  ...lists,
  ...counters,
  ...download,
  ...hit,
  ...images,
  ...increment,
  ...latest,
  ...maintenance,
  ...reference,
  ...setup,
  ...shown,
  ...status,
}

type ContractName = Extract<keyof typeof EXPORTS, `${string}Contract`>

/** The contract of any route, with its literals. */
export type RouteContract = ReturnType<(typeof EXPORTS)[ContractName]>

/** The contracts of all routes, which their files export as `…Contract`. */
export function routeContracts(): RouteContract[] {
  const names = Object.keys(EXPORTS).filter((name): name is ContractName => name.endsWith('Contract'))
  return names.map((name) => EXPORTS[name]())
}
