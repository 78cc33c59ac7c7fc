import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Unstable_RawConfig } from 'wrangler'
import { wranglerProgram } from '../../cli/wrangler-program.ts'
import { readJsonFile, writePrivately } from '../processes/private-file.ts'
import { buildWorker } from '../worker/build-worker.ts'

/** What a bundle depends on, beside its modules and wrangler. They may be absent. */
const SETTINGS = ['wrangler.toml', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json']

/**
 * Builds the Worker of this folder, unless `directory` has a build of the same inputs: building takes most of a start.
 *
 * @param directory for builds only. It is emptied before each.
 * @param config that of wrangler.toml
 * @returns the path of the built module
 */
export async function cachedBuild(directory: string, config: Unstable_RawConfig): Promise<string> {
  const record = join(directory, 'build.json')
  const last = await readJsonFile<{ script: string; files: string[]; digest: string }>(record)
  if (last !== null && last.digest === (await digestOf(last.files))) return last.script

  await rm(directory, { recursive: true, force: true })
  const began = Date.now()
  const script = await buildWorker(directory, undefined, process.cwd())
  const { inputs } = JSON.parse(await readFile(join(directory, 'bundle-meta.json'), 'utf8'))
  const sources = [...SETTINGS, ...Object.keys(inputs)].map((path) => resolve(path))
  const files = [script, join(wranglerProgram(), '../../package.json'), ...sources]
  const digest = await digestOf(files)
  const changes = sources.map((file) => statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0)
  // Nobody knows what a build command reads, and which text was built of a file that has changed since.
  if (config.build?.command === undefined && Math.max(...changes) < began)
    await writePrivately(record, JSON.stringify({ script, files, digest }))
  return script
}

/** A digest of files' texts, and of what else wrangler reads. */
async function digestOf(files: string[]): Promise<string> {
  const { CLOUDFLARE_ENV, NODE_ENV } = process.env
  const texts = await Promise.all(files.map((file) => readFile(file, 'base64').catch(() => null)))
  return hash('sha256', JSON.stringify([CLOUDFLARE_ENV, NODE_ENV, files, texts]))
}
