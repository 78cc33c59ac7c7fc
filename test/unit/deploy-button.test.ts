import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { PROJECT } from '../../local/project-root.ts'
import { readConfig } from '../../src/config/config.ts'
import { shortTokenProblem } from '../../src/tokens.ts'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const { scripts, cloudflare } = JSON.parse(read('package.json')) as {
  scripts: Record<string, string>
  cloudflare: { bindings: Record<string, { description: string }> }
}
const secrets = parseEnv(read('.dev.vars.example')) as Record<string, string>
const config = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true })

it('The button deploys by a script that Cloudflare finds', () => {
  expect(scripts.deploy).toBe('wrangler deploy')
})

it('No document or setting names the account of this repository, so a copy is deployed without editing', () => {
  const documents = readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md'))
  for (const path of ['package.json', 'README.md', ...documents.map((name) => `docs/${name}`)])
    expect(read(path)).not.toContain('YOUR-A')
  expect(scripts.predeploy).toBe('npm run -s check:settings')
})

it('Every secret, variable and binding has a description, and nothing else has', () => {
  const names = [
    ...Object.keys(secrets),
    ...Object.keys(config.vars),
    ...config.ratelimits.map(({ name }: { name: string }) => name),
  ]
  expect(Object.keys(cloudflare.bindings).sort()).toEqual(names.sort())
  for (const { description } of Object.values(cloudflare.bindings)) expect(description).toMatch(/^[A-Z].*\.$/)
})

it('The token of the example is refused once it is deployed', () => {
  expect(Object.keys(secrets).sort()).toEqual(['API_TOKEN', 'DATABASE_URL'])
  expect(shortTokenProblem(secrets.API_TOKEN!, 'https://slotted-counter.example.workers.dev/')).not.toBeNull()
})

it('Shipped settings let nobody else count, and lead nowhere', () => {
  const { config: read } = readConfig({ ...config.vars, DATABASE_URL: 'https://u:p@host.example', API_TOKEN: 'token' })
  expect(read.types.size).toBe(2)
  for (const type of read.types.values()) {
    expect(type).toMatchObject({ allowedOrigins: ['https://example.com'], redirectTo: null })
  }
})

it('What a form may show is text, and no queue is bound, whose name it may empty', () => {
  expect(Object.entries(config.vars).filter(([, value]) => typeof value !== 'string')).toEqual([])
  expect(config.queues).toEqual({ producers: [], consumers: [] })
})
