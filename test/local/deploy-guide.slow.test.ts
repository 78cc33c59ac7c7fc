import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { readConfig } from '../../src/config/config.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { PROJECT } from './npm-script.ts'

const run = promisify(execFile)
const WRANGLER = join(PROJECT, 'node_modules/wrangler/bin/wrangler.js')
const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' }
/** The beginning of a wrangler.toml, without any of the sections that the guide explains. */
const HEAD = `name = "guide"\nmain = ${JSON.stringify(join(PROJECT, 'src/index.ts'))}\ncompatibility_date = "2026-09-18"\n`
/** Required settings, which snippets do not repeat. */
const BARE = {
  DATABASE_URL: 'https://user:password@host.example',
  API_TOKEN: 'token',
  COUNTERS: { page_view: { record_type: 1 } },
} as Bindings

describe('docs/deploy.md', async () => {
  const guide = await readFile(join(PROJECT, 'docs/deploy.md'), 'utf8')
  const blocks = (language: string) =>
    [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!)
  const snippets = blocks('toml')
  const commands = blocks('sh').flatMap((block) => block.trim().split('\n'))

  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(inject('scratch'), 'guide-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('has snippets and commands', () => {
    expect(snippets.length).toBeGreaterThan(5)
    expect(commands.length).toBeGreaterThan(25)
    expect(guide.match(/^```/gm)).toHaveLength(2 * (snippets.length + blocks('sh').length))
  })

  it.each(snippets.map((snippet) => [snippet.split('\n').find((line) => line.startsWith('[')), snippet]))(
    'shows settings that wrangler and the Worker accept without a warning: %s',
    async (_, snippet) => {
      const config = join(folder, 'wrangler.toml')
      await writeFile(config, HEAD + snippet)
      const { stdout, stderr } = await run(
        process.execPath,
        [WRANGLER, 'deploy', '--dry-run', `--config=${config}`, `--outdir=${join(folder, 'out')}`],
        { env, cwd: PROJECT },
      )
      expect(stdout + stderr).not.toMatch(/WARNING|ERROR/)
      const { vars } = unstable_readConfig({ config }, { hideWarnings: true })
      expect(readConfig({ ...BARE, ...(vars as Bindings) }).mistakes).toEqual([])
    },
  )

  it('cannot show an unknown setting, because wrangler or the Worker refuses it', async () => {
    const config = join(folder, 'wrong.toml')
    await writeFile(config, `${HEAD}[placement]\nregoin = "aws:eu-central-1"\n[vars.HISTORY]\nhour_day = 200\n`)
    const deploy = run(process.execPath, [WRANGLER, 'deploy', '--dry-run', `--config=${config}`], { env, cwd: folder })
    expect(await deploy.then(({ stdout, stderr }) => stdout + stderr, String)).toMatch(/WARNING|ERROR/)
    // Without the section that wrangler itself refuses.
    const copy = join(folder, 'copy.toml')
    await writeFile(copy, (await readFile(config, 'utf8')).replace(/\[placement\]\n.*\n/, ''))
    const { vars } = unstable_readConfig({ config: copy }, { hideWarnings: true })
    expect(readConfig({ ...BARE, ...(vars as Bindings) }).mistakes).toHaveLength(1)
  })

  it('names npm scripts and options that exist', async () => {
    const { scripts } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    // Comments tell maintainers where figures come from; a reader does not see them.
    const named = [...guide.replace(/<!--.*?-->/gs, '').matchAll(/npm run ([\w:]+)(?: -- (--[\w-]+))?/g)]
    expect(named.length).toBeGreaterThan(8)
    for (const [, script = '', option] of named) {
      expect(Object.keys(scripts)).toContain(script)
      if (option === undefined) continue
      const file = /node (cli\/[\w/-]+\.ts)/.exec(scripts[script]!)![1]!
      const { stdout } = await run(process.execPath, [join(PROJECT, file), '--help'], { env })
      expect(stdout).toContain(option)
    }
  })

  it.each([...new Set(commands.flatMap((command) => /npx wrangler (.*)$/.exec(command)?.[1] ?? []))])(
    'names a wrangler command that exists: %s',
    async (command) => {
      const words = command.split(' ')
      const subcommand = words.filter((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-')).slice(0, 2)
      const { stdout } = await run(process.execPath, [WRANGLER, ...subcommand.slice(0, 2), '--help'], { env })
      // For an unknown subcommand, wrangler prints the help of its parent, which lists the subcommands.
      expect(stdout).not.toContain('\nCOMMANDS\n')
      const [, shown = ''] = /^wrangler ([a-z -]+?)(?= [<[]|\n|$)/m.exec(stdout) ?? []
      expect(command.startsWith(shown.trim()), `${command} against "wrangler ${shown}"`).toBe(true)
      expect(shown.trim()).not.toBe('')
      for (const option of words.filter((word) => word.startsWith('--'))) expect(stdout).toContain(option)
    },
  )

  it('names settings that the Worker knows', async () => {
    // Not the unchecked bindings: a setting is known only if something checks it.
    const files = (await readdir(join(PROJECT, 'src/config'))).filter(
      (name) => name.endsWith('.ts') && name !== 'bindings.ts',
    )
    const texts = await Promise.all(files.map((name) => readFile(join(PROJECT, 'src/config', name), 'utf8')))
    const config = texts.join('\n')
    const named = new Set(
      [...guide.matchAll(/`((?:HISTORY|PRUNING)\.)?([a-z]+(?:_[a-z]+)+)`/g)].map(([, , name]) => name!),
    )
    const elsewhere = ['schema_version', 'configuration_invalid', 'database_not_ready', 'batch_dead', 'workers_dev']
    for (const name of named) if (!elsewhere.includes(name)) expect(config).toMatch(new RegExp(`\\b${name}\\b`))
    for (const name of ['DATABASE_URL', 'API_TOKEN', 'BATCHES', 'DEAD_BATCHES']) {
      expect(guide).toContain(name)
      expect(config).toContain(name)
    }
  })

  it('links to files that exist', async () => {
    const linked = [...guide.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!)
    expect(linked.length).toBeGreaterThan(3)
    for (const path of linked) await readFile(join(PROJECT, 'docs', path))
  })
})
