import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { openApiDocument } from '../../src/openapi/document.ts'

const RULES = {
  // /healthz, the beacon and badges answer what they are asked for, or nobody can be told; a download is a redirect.
  'operation-4xx-response': 'off',
  'operation-2xx-response': 'off',
  'operation-description': 'error',
  'no-http-verbs-in-paths': 'error',
  'path-segment-plural': 'off',
} as const

async function complaints(document: unknown) {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/openapi.json',
    config,
  })
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
}

it('the OpenAPI document satisfies the linter, warnings included, its examples too', async () => {
  expect(await complaints(openApiDocument(app.routes))).toEqual([])
})

it('the linter would notice an example that the schema does not take, and a parameter that is not there', async () => {
  const document = JSON.parse(JSON.stringify(openApiDocument(app.routes)))
  const path = document.paths['/v1/counters/{type}/{key}']
  path.post.requestBody.content['application/json'].examples.five.value = { by: 'many' }
  path.get.parameters = []
  const found = (await complaints(document)).join('\n')
  expect(found).toContain('no-invalid-media-type-examples')
  expect(found).toContain('path-parameters-defined')
})
