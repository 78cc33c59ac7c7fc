import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { contracts } from '../../../../scripts/openapi/contracts.ts'
import { openApiDocument } from '../../../../scripts/openapi/document.ts'
import { fileContracts } from '../../../../scripts/openapi/file-contracts.ts'

const described = () => openApiDocument([...contracts(), ...fileContracts(['1.0.0'])])

const RULES = {
  // /healthz, the beacon and badges have no problem documents; a download is a redirect.
  'operation-4xx-response': 'off',
  'operation-2xx-response': 'off',
  'operation-description': 'error',
  'no-http-verbs-in-paths': 'error',
  'path-segment-plural': 'off',
} as const

async function lintErrors(document: unknown) {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: '/openapi.json',
    config,
  })
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
}

it('the OpenAPI document passes the linter without warnings, examples included', async () => {
  expect(await lintErrors(described())).toEqual([])
})

it('the linter finds an example that does not match its schema, and a missing parameter', async () => {
  const document = JSON.parse(JSON.stringify(described()))
  const path = document.paths['/v1/counters/{type}/{key}']
  path.post.requestBody.content['application/json'].examples.five.value = { by: 'many' }
  path.get.parameters = []
  const found = (await lintErrors(document)).join('\n')
  expect(found).toContain('no-invalid-media-type-examples')
  expect(found).toContain('path-parameters-defined')
})
