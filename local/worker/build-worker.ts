import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { wranglerProgram } from '../../cli/wrangler-program.ts'
import { PROJECT } from '../project-root.ts'

/**
 * Builds a Worker as `wrangler deploy` does.
 *
 * @param entry its main module. Default: that of wrangler.toml.
 * @param project the folder of wrangler.toml
 * @returns the path of the built module
 */
export async function buildWorker(directory: string, entry?: string, project = PROJECT): Promise<string> {
  await mkdir(directory, { recursive: true })
  const options = ['--dry-run', `--config=${join(project, 'wrangler.toml')}`, `--outdir=${directory}`, '--metafile']
  const args = [wranglerProgram(), 'deploy', ...(entry === undefined ? [] : [entry]), ...options]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  await promisify(execFile)(process.execPath, args, { cwd: project, env })
  const script = (await readdir(directory)).find((name) => name.endsWith('.js'))
  if (script === undefined) throw new Error(`wrangler wrote no module to ${directory}`)
  return join(directory, script)
}
