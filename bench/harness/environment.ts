import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import type { Testbed } from './shared-testbed.ts'
import { watchStolenTime } from './stolen-time.ts'
import { wrkVersion } from './wrk.ts'

/** Where, when and with which versions something was measured. */
export interface Environment {
  /** When measuring ended. */
  date: string
  machine: {
    cpu: string
    cores: number
    memoryGiB: number
    kernel: string
    /** Load average of the minute before measuring. */
    loadBefore: number
    /** Percent of its processor time that the host gave to others while measuring, with repeats. Missing in older results. */
    stolenPercent?: number | null
  }
  versions: Record<string, string>
  /** The database server's settings that decide what a commit costs. */
  databaseSettings: Record<string, string>
  /** The second database server, if there was one, and its settings. */
  secondDatabase?: { version: string; settings: Record<string, string> }
}

const PACKAGES = ['workerd', 'hono', '@planetscale/database']

/** Records the load of the machine before anything is measured. Call the result afterwards. */
export async function observeEnvironment(testbed: Testbed): Promise<() => Promise<Environment>> {
  const loadBefore = Math.round(loadavg()[0]! * 100) / 100
  const versions: Record<string, string> = { node: process.versions.node }
  for (const name of PACKAGES) versions[name] = await versionOf(name)
  versions.wrk = await wrkVersion()
  const [first, second] = testbed.servers
  versions.database = first!.description
  const databaseSettings = await first!.settings()
  const secondDatabase = second && { version: second.description, settings: await second.settings() }
  const stolen = await watchStolenTime()
  return async () => ({
    date: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: `${type()} ${release()}`,
      loadBefore,
      stolenPercent: await stolen(),
    },
    versions,
    databaseSettings,
    ...(secondDatabase && { secondDatabase }),
  })
}

async function versionOf(name: string): Promise<string> {
  // workerd is not a dependency of ours; wrangler brings it.
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler'))
  for (const folder of require.resolve.paths(name) ?? []) {
    const text = await readFile(`${folder}/${name}/package.json`, 'utf8').catch(() => null)
    if (text !== null) return String((JSON.parse(text) as { version: string }).version)
  }
  return 'unknown'
}
