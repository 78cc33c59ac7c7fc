import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { contracts } from '../../scripts/openapi/contracts.ts'
import { builtWorker } from './built-worker.ts'

let bundle: string
beforeAll(async () => {
  bundle = await readFile(await builtWorker(), 'utf8')
})

it('The bundle has the paths of the API, but not what only its documentation says', () => {
  const operations = contracts()
  expect(operations.length).toBeGreaterThan(20)
  for (const { path } of operations) expect(bundle).toContain(path)
  const said = operations.map(({ description }) => description)
  expect(said.filter((text) => bundle.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
})
