import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROJECT } from '../../../local/project-root.ts'
import { beginning, ClientProject } from './client-project.ts'

let begin: string
beforeAll(async () => {
  begin = beginning(await readFile(join(PROJECT, 'dist/public/docs.html'), 'utf8'))
})

describe('The types of the client', () => {
  it('say everything', async () => {
    expect(await readFile(join(PROJECT, 'dist/client.d.ts'), 'utf8')).not.toMatch(/\b(any|unknown|never)\b/)
  })

  it('refuse requests that the Worker would refuse', async () => {
    const wrong = [
      `client.v1.counters[':type'][':key'].$get({ param: { type: 'a' } })`,
      `client.v1.counters[':type'][':key'].$get({ param: { type: 'a', key: 'b' }, query: { consistency: 'rough' } })`,
      `client.v1.counters[':type'][':key'].$post({ param: { type: 'a', key: 'b' }, json: { by: '5' } })`,
      `client.v1.counters[':type'].$get({ param: { type: 'a' } })`,
      `client.v1.increments.$post({ json: { increments: [{ type: 'a' }] } })`,
      `client.hit.$post({ json: { type: 'page_view' } })`,
      `client.v1.nothing.$get()`,
    ]
    const project = await ClientProject.of(`${begin}\n${wrong.join('\n')}`)
    const complaints = await project.check()
    const first = begin.split('\n').length + 1
    const lines = [...complaints.matchAll(/program\.ts\((\d+),/gm)].map(([, line]) => Number(line) - first)
    expect([...new Set(lines)]).toEqual([...wrong.keys()])
  })

  it('add no code of the Worker to a program', async () => {
    const project = await ClientProject.of(`${begin}\nexport const status = await client.v1.status.$get()`)
    const bundle = await project.bundle()
    expect(bundle).toContain('/v1/status'.split('/')[2])
    expect(bundle).not.toMatch(/planetscale|slotted_counters|isbot|valibot/i)
    expect(bundle.length).toBeLessThan(20_000)
  })
})
