import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { PROJECT } from '../../local/project-root.ts'

describe.each(['wrangler.toml', 'examples/blog/wrangler.toml', 'examples/in-process/wrangler.toml'])('%s', (file) => {
  const settings = unstable_readConfig({ config: join(PROJECT, file) }, { hideWarnings: true })

  it('gives older versions, with their secrets, no address', () => {
    expect(settings.preview_urls).toBe(false)
  })

  it('keeps the addresses of visitors out of the logs', () => {
    expect(settings.observability?.logs).toMatchObject({ enabled: true, invocation_logs: false })
  })
})
