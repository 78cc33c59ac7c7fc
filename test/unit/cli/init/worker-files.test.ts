import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { wrongSettings } from '../../../../cli/check/wrong-settings.ts'
import { workerFiles } from '../../../../cli/init/worker-files.ts'
import { PROJECT } from '../../../../local/project-root.ts'
import { DEFAULT_COUNTERS } from '../../../../src/config/read-types.ts'

const VENDORED = 'file:vendor/slotted-counter-0.1.0-0123abcd.tgz'

// Where wrangler is found.
const folder = mkdtempSync(join(PROJECT, 'node_modules/.init-'))
afterAll(() => rmSync(folder, { recursive: true }))
const ofBrowsers = join(folder, 'node_modules/slotted-counter/dist/public')
mkdirSync(ofBrowsers, { recursive: true })
mkdirSync(join(folder, 'src'))
writeFileSync(join(ofBrowsers, 'slotted.js'), '')

async function settingsOf(downloads: string) {
  const files = await workerFiles({ name: 'mine', sites: 'https://blog.example', downloads, plan: 'paid' }, VENDORED)
  const file = join(folder, 'wrangler.toml')
  for (const path of ['wrangler.toml', 'src/index.ts']) writeFileSync(join(folder, path), files.get(path)!)
  expect(wrongSettings(file)).toEqual([])
  return { files, settings: unstable_readConfig({ config: file }, { hideWarnings: true }) }
}

describe('The files of init', () => {
  it('are settings with the answers and with queues named after the Worker', async () => {
    const { settings } = await settingsOf('')
    expect(settings).toMatchObject({
      name: 'mine',
      assets: { directory: 'node_modules/slotted-counter/dist/public' },
      vars: { SITES: 'https://blog.example', PLAN: 'paid' },
      queues: {
        producers: [
          { binding: 'BATCHES', queue: 'mine-batches' },
          { binding: 'DEAD_BATCHES', queue: 'mine-dead-batches' },
        ],
        consumers: [{ queue: 'mine-batches', dead_letter_queue: 'mine-dead-batches' }],
      },
      triggers: { crons: ['* * * * *', '*/2 * * * *'] },
    })
    expect(settings.build.command).toBeUndefined()
    expect(settings.vars).not.toHaveProperty('COUNTERS')
  })

  it('count the same with downloads, which lead to their folder', async () => {
    const redirect_to = 'https://files.example/dist/'
    const { page_view, download } = DEFAULT_COUNTERS
    expect((await settingsOf(redirect_to)).settings.vars.COUNTERS).toEqual({
      page_view,
      download: { ...download, redirect_to },
    })
  })

  it('mount the package that they bring, and keep secrets out of Git', async () => {
    const { files } = await settingsOf('')
    expect(files.get('src/index.ts')).toContain("from 'slotted-counter'")
    const { dependencies } = JSON.parse(files.get('package.json')!) as { dependencies: Record<string, string> }
    expect(dependencies['slotted-counter']).toBe(VENDORED)
    expect(files.get('.gitignore')!.split('\n')).toContain('.dev.vars*')
  })
})
