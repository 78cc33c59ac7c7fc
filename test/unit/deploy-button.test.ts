import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { PROJECT } from '../../local/project-root.ts'
import { readConfig } from '../../src/config/config.ts'
import { shortTokenProblem } from '../../src/config/tokens.ts'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const { repository, scripts, cloudflare } = JSON.parse(read('package.json')) as {
  repository: { url: string }
  scripts: Record<string, string>
  cloudflare: { bindings: Record<string, { description: string }> }
}
const secrets = parseEnv(read('.dev.vars.example')) as Record<string, string>
const config = unstable_readConfig({ config: join(PROJECT, 'wrangler.toml') }, { hideWarnings: true })

it('The button deploys the repository that package.json names, by a script that Cloudflare finds', () => {
  const [, address] = /deploy\.workers\.cloudflare\.com\/\?url=([^)]+)\)/.exec(read('README.md'))!
  expect(repository.url).toBe(`git+${address}.git`)
  expect(scripts.deploy).toBe('wrangler deploy')
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
