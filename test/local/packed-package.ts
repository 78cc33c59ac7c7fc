import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT } from './npm-script.ts'

const run = promisify(execFile)

/** Packs the package into a folder, as it would be published. @returns the path of the file */
export async function packPackage(folder: string): Promise<string> {
  // What `prepack` does; the test run has built the rest.
  for (const script of ['types', 'build:package']) await run('npm', ['run', '-s', script], { cwd: PROJECT })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: PROJECT })
  return join(folder, (JSON.parse(stdout) as [{ filename: string }])[0].filename)
}
