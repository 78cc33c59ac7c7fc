import { execFile } from 'node:child_process'
import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROJECT } from '../npm-script.ts'
import { serveFolder } from './serve-script.ts'

const PROGRAM = `
import { cachedBuild } from ${JSON.stringify(join(PROJECT, 'local/serve/cached-build.ts'))}
process.stdout.write(await cachedBuild('data/worker', JSON.parse(process.argv[1])))`

it('builds only what has changed', { timeout: 300_000 }, async () => {
  const folder = await serveFolder()
  const settings = join(folder, 'wrangler.toml')
  const source = join(folder, 'own.ts')
  await writeFile(source, `export { default } from ${JSON.stringify(join(PROJECT, 'src/index.ts'))}\n`)
  let script = ''
  /** Whether it was built, and not taken from the earlier build. */
  const isBuilt = async (config = {}) => {
    const before = await stat(script).catch(() => null)
    const args = ['--input-type=module', '-e', PROGRAM, JSON.stringify(config)]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
    script = join(folder, stdout)
    return before?.ino !== (await stat(script)).ino || before.ctimeMs !== (await stat(script)).ctimeMs
  }
  expect(await isBuilt()).toBe(true)
  expect(await isBuilt()).toBe(false)
  await appendFile(settings, '# A setting.\n')
  expect(await isBuilt()).toBe(true)
  await writeFile(settings, (await readFile(settings, 'utf8')).replace(/^main = .*$/m, 'main = "own.ts"'))
  expect(await isBuilt()).toBe(true)
  expect(script).toMatch(/own\.js$/)
  await appendFile(source, 'export const own = 1\n')
  expect(await isBuilt()).toBe(true)
  expect(await isBuilt()).toBe(false)
  await truncate(script, 1_000)
  expect(await isBuilt()).toBe(true)
  await truncate(join(folder, 'data/worker/build.json'), 10)
  // Nobody knows what it reads.
  expect(await isBuilt({ build: { command: 'true' } })).toBe(true)
  expect(await isBuilt({ build: { command: 'true' } })).toBe(true)
})
