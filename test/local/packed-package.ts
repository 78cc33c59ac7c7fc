import { execFile } from 'node:child_process'
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'

const run = promisify(execFile)

/** Packs the package, as `npm run init` does in a clone. @returns the path of the file */
export async function packPackage(folder: string): Promise<string> {
  const worker = join(folder, 'of a clone')
  await run('npm', ['run', '-s', 'init', '--', worker, '--sites', 'https://blog.example'], { cwd: PROJECT })
  const [name] = await readdir(join(worker, 'vendor'))
  return join(worker, 'vendor', name!)
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
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', next], { cwd: root })
  return join(next, (JSON.parse(stdout) as [{ filename: string }])[0].filename)
}
