import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { IN_PACKAGE } from '../command-name.ts'

/** The package, or a clone. */
export const ROOT = dirname(createRequire(import.meta.url).resolve('slotted-counter/package.json'))

const FOLDER = 'vendor'

/**
 * Packs this version into the folder of a Worker, and removes the one before. So the Worker needs it from no registry.
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
    const packed = join(temporary, filename)
    const hash = createHash('sha256')
      .update(await readFile(packed))
      .digest('hex')
    const name = filename.replace(/\.tgz$/, `-${hash.slice(0, 8)}.tgz`)
    const folder = join(directory, FOLDER)
    await mkdir(folder, { recursive: true })
    await copyFile(packed, join(folder, name))
    for (const old of await readdir(folder)) if (old !== name) await rm(join(folder, old))
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
 * The package.json of a Worker with this version of the package.
 *
 * @param file that of the Worker
 * @param vendor makes the dependency
 * @returns `null` if the file does not exist, or belongs to something else
 */
export async function upgraded(file: string, vendor: () => Promise<string>): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const worker = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Record<string, string> | undefined>
  if (!worker.dependencies?.['slotted-counter']?.startsWith(`file:${FOLDER}/`)) return null
  const { hono, wrangler, node } = await packagesBeside()
  Object.assign(worker.dependencies, { hono, 'slotted-counter': await vendor() })
  worker.devDependencies = { ...worker.devDependencies, wrangler, node }
  return `${JSON.stringify(worker, null, 2)}\n`
}
