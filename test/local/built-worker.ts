import { access, mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { buildWorker } from '../../local/worker/workerd.ts'

/**
 * The path of the built Worker. The first file of a test run that asks builds it, which takes seconds, and the others use that.
 * It is removed with the scratch folder at the end of the run.
 */
export async function builtWorker(): Promise<string> {
  const shared = join(inject('scratch'), 'built-for-local-tests')
  const script = join(shared, 'index.js')
  const isBuilt = () =>
    access(script).then(
      () => true,
      () => false,
    )
  if (await isBuilt()) return script
  const directory = await mkdtemp(join(inject('scratch'), 'building-'))
  await buildWorker(directory)
  // Two files may build at the same time. The folder of the first one stays.
  await rename(directory, shared).catch(async (error: unknown) => {
    if (!(await isBuilt())) throw error
  })
  return script
}
