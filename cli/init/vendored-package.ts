import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { IN_PACKAGE } from '../command-name.ts'

/** The package, or a clone. */
export const ROOT = dirname(createRequire(import.meta.url).resolve('slotted-counter/package.json'))

const FOLDER = 'vendor'

/**
 * Packs this version into the folder of a Worker, which so needs it from no registry.
 *
 * @returns the dependency. Its name changes with the contents: npm would refuse other contents under the same name
 */
export async function vendorPackage(directory: string): Promise<string> {
  const run = promisify(execFile)
  const temporary = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  try {
    if (!IN_PACKAGE) await run('npm', ['run', '-s', 'prepack'], { cwd: ROOT })
    const { stdout } = await run('npm', ['pack', ROOT, '--json', '--ignore-scripts'], { cwd: temporary })
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
    // Its scripts are for a clone, and npm would warn of `prepare` at each installation.
    await run('tar', ['-xzf', filename], { cwd: temporary })
    await run('npm', ['pkg', 'delete', 'scripts'], { cwd: join(temporary, 'package') })
    await run('npm', ['pack', './package', '--ignore-scripts'], { cwd: temporary })
    const packed = join(temporary, filename)
    const digest = hash('sha256', await readFile(packed))
    const name = filename.replace(/\.tgz$/, `-${digest.slice(0, 8)}.tgz`)
    const folder = join(directory, FOLDER)
    await mkdir(folder, { recursive: true })
    await copyFile(packed, join(folder, name))
    return `file:${FOLDER}/${name}`
  } finally {
    await rm(temporary, { recursive: true })
  }
}

/** The packages of a Worker beside its own: those that this version was tested with. wrangler must know the compatibility date. */
export async function packagesBeside(): Promise<Record<'hono' | 'wrangler' | 'node', string>> {
  return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).devDependencies
}

/**
 * Replaces the package of a Worker by this version.
 *
 * @returns whether the folder has a Worker that `init` has written
 */
export async function upgradeWorker(directory: string): Promise<boolean> {
  const file = join(directory, 'package.json')
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const worker = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Record<string, string> | undefined>
  const before = worker.dependencies?.['slotted-counter']
  if (!before?.startsWith(`file:${FOLDER}/`)) return false
  const { hono, wrangler, node } = await packagesBeside()
  const dependency = await vendorPackage(directory)
  Object.assign(worker.dependencies!, { hono, 'slotted-counter': dependency })
  worker.devDependencies = { ...worker.devDependencies, wrangler, node }
  await writeFile(file, `${JSON.stringify(worker, null, 2)}\n`)
  if (before !== dependency) await rm(join(directory, before.slice('file:'.length)), { force: true })
  return true
}
