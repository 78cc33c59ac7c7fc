import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, inject } from 'vitest'
import { PRIVATE } from './newcomer.ts'
import { NpmScript } from './npm-script.ts'
import { packedPackage } from './packed-package.ts'

export const run = promisify(execFile)
// The project's Node, because wrangler refuses older ones.
export const env = { ...process.env, ...PRIVATE, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

/**
 * A Worker that `init` writes into an empty folder, from the packed package and nothing else, for the tests of a file.
 * @param name of a folder that no other file uses
 */
export function ownWorkerOfFile(name: string) {
  const worker = {
    /** The file of the package. */
    packed: '',
    folder: '',
    /** When `init` began: milliseconds of `performance.now()`. */
    began: 0,
    install: () => run('npm', ['install', '--no-audit', '--no-fund'], { cwd: worker.folder, env }),
    /** Writes the Worker, or upgrades it. @param packed the package whose `init` it is */
    init(packed?: string) {
      const command = ['slotted-counter', 'init', 'my counter', '--sites', 'https://blog.example']
      const args = ['exec', '--yes', `--package=${packed ?? worker.packed}`, '--', ...command]
      return run('npm', args, { cwd: dirname(worker.folder), env })
    },
    script: (name: string, more: NodeJS.ProcessEnv = {}) =>
      new NpmScript(['--prefix', worker.folder, 'run', name], { ...env, ...more }),
  }
  beforeAll(async () => {
    const empty = join(inject('scratch'), name)
    await mkdir(empty)
    worker.packed = await packedPackage()
    worker.folder = join(empty, 'my counter')
    worker.began = performance.now()
    expect((await worker.init()).stdout).toContain('npm run dev')
    await worker.install()
  }, 300_000)
  return worker
}
