import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { contractsOf } from '../../src/openapi/contract.ts'
import { builtWorker } from './built-worker.ts'

/** Contracts that are passed to their handlers whole. */
const WHOLE = ['beacon', 'beaconRelease', 'openapi', 'docs']

let bundle: string
beforeAll(async () => {
  bundle = await readFile(await builtWorker(), 'utf8')
})

it('The bundle has the paths of the API, but not what only its documentation says', () => {
  const operations = app.routes.flatMap(contractsOf).filter(({ id }) => !WHOLE.includes(id))
  expect(operations.length).toBeGreaterThan(20)
  for (const { path } of operations) expect(bundle).toContain(path)
  const said = operations.map(({ description }) => description)
  expect(said.filter((text) => bundle.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
})
