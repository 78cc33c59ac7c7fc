import { access, mkdtemp, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { buildWorker } from '../../local/worker/build-worker.ts'
import { startWorkerd, type Workerd } from '../../local/worker/workerd.ts'
import { takeDatabase } from '../harness/taken-databases.ts'
import { type Finally, stateDirectory } from './npm-script.ts'

type TakenDatabase = Awaited<ReturnType<typeof takeDatabase>>

/** The owner's token of the Workers under test. Not `local`, with which hostile requests, which name another host, got 503. */
export const TOKEN = 'a-token-for-tests'

/**
 * Starts the built Worker on bare workerd. It stops at the end.
 *
 * @param settings variables that differ from wrangler.toml
 * @param database that of another Worker. Default: its own.
 * @param observed whether it reports the load of its isolate (`observed-worker.ts`)
 */
export async function startBuiltWorker(
  {
    settings = {},
    inspectorPort,
    database,
    observed = false,
  }: {
    settings?: Record<string, unknown>
    inspectorPort?: number
    database?: TakenDatabase
    observed?: boolean
  } = {},
  atEnd: Finally = onTestFinished,
): Promise<{ workerd: Workerd; database: TakenDatabase; databaseUrl: string; mysqlUrl: string }> {
  const taken = database ?? (await takeDatabase())
  const { name, databaseUrl } = taken
  const workerd = await startWorkerd({
    script: await builtWorker(observed ? 'test/harness/observed-worker.ts' : undefined),
    directory: await stateDirectory(atEnd),
    databaseUrl,
    apiToken: TOKEN,
    settings,
    ...(inspectorPort !== undefined && { inspectorPort }),
  })
  atEnd(() => workerd.stop())
  return { workerd, database: taken, databaseUrl, mysqlUrl: `${inject('mysqlUrl')}/${name}` }
}

/**
 * The path of the built Worker. The first file of a test run that asks builds it, which takes seconds, and the others use that.
 * It is removed with the scratch folder at the end of the run.
 */
export async function builtWorker(entry = 'src/index.ts'): Promise<string> {
  const name = basename(entry, '.ts')
  const shared = join(inject('scratch'), `built-${name}`)
  const script = join(shared, `${name}.js`)
  const isBuilt = () =>
    access(script).then(
      () => true,
      () => false,
    )
  if (await isBuilt()) return script
  const directory = await mkdtemp(join(inject('scratch'), 'building-'))
  await buildWorker(directory, join(PROJECT, entry))
  // Two files may build at the same time. The folder of the first one stays.
  await rename(directory, shared).catch(async (error: unknown) => {
    if (!(await isBuilt())) throw error
  })
  return script
}
