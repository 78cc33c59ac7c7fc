import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'

const run = promisify(execFile)

/** Packs the package into a folder, as it would be published. @returns the path of the file */
export async function packPackage(folder: string): Promise<string> {
  // What `prepack` does; the test run has built the rest.
  for (const script of ['types', 'build:package']) await run('npm', ['run', '-s', script], { cwd: PROJECT })
  return pack(PROJECT, folder)
}

/** The path of the packed package, the same for all files of a test run. */
export async function packedPackage(): Promise<string> {
  const response = await fetch(inject('packedPackage'))
  if (!response.ok) throw new Error(await response.text())
  return response.text()
}

/** Packs what the next version may be: with one more table. @param packed the file of this version */
export async function packNextVersion(packed: string): Promise<string> {
  const next = join(dirname(packed), 'next')
  await mkdir(next)
  await run('tar', ['-xzf', packed, '-C', next])
  const root = join(next, 'package')
  const description = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object
  await writeFile(join(root, 'package.json'), JSON.stringify({ ...description, version: '99.0.0' }))
  const table = 'CREATE TABLE IF NOT EXISTS next_version (\n  id INT NOT NULL,\n  PRIMARY KEY (id)\n)'
  const migration = { name: '9999_next_version.sql', statements: [table] }
  await appendFile(join(root, 'dist/package/src/generated.js'), `\nMIGRATIONS.push(${JSON.stringify(migration)})\n`)
  return pack(root, next)
}

async function pack(root: string, folder: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: root })
  return join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename)
}
