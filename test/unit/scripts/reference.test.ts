import { expect, it } from 'vitest'
import { contracts } from '../../../scripts/openapi/contracts.ts'
import { openApiDocument } from '../../../scripts/openapi/document.ts'
import { referencePage } from '../../../scripts/reference/page.ts'

it('The documentation shows an answer in JSON as JSON, and any other as its text', async () => {
  const page = String(await referencePage(openApiDocument(contracts()), 'https://counter.test', ''))
  const answers = [...page.matchAll(/<code class="answered">(.*?)<\/code>/gs)].map(([, answer]) =>
    answer!.replaceAll('&quot;', '"'),
  )
  const metrics = answers.find((answer) => answer.includes('# EOF'))!
  expect(metrics.split('\n')).toContain('slotted_counter_type_counts{type="download"} 218')
  expect(answers.filter((answer) => answer.startsWith('{\n  "type": "')).length).toBeGreaterThan(5)
})
