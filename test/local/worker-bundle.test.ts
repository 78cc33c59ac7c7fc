import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { contracts } from '../../scripts/openapi/contracts.ts'
import { usualNotes } from '../../src/openapi/fields.ts'
import { builtWorker } from './built-worker.ts'

let bundle: string
beforeAll(async () => {
  bundle = await readFile(await builtWorker(), 'utf8')
})

it('The bundle has the paths of the API, but not what only its documentation says', () => {
  const operations = contracts()
  expect(operations.length).toBeGreaterThan(20)
  for (const { path } of operations) {
    // A key may have slashes, and the image of a total has no key, so such a route serves everything below its type.
    const below = path
      .replace(/\{type\}\.\w+$/, '{type}/*')
      .replace('{type}', ':type')
      .replace(/\{key\}.*/, '*')
    expect([path, below].filter((text) => bundle.includes(text))).not.toEqual([])
  }
  const notes = [usualNotes(), ...operations.map(({ notes = {} }) => notes)].flatMap((each) => Object.values(each))
  const said = [
    ...operations.map(({ description }) => description),
    ...notes.flatMap((note) => (typeof note === 'string' ? note : ((note.description as string | undefined) ?? []))),
  ]
  expect(said.length).toBeGreaterThan(2 * operations.length)
  expect(said.filter((text) => bundle.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
})
