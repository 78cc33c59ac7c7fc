import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from '../harness/machine.ts'
import type { Extent } from '../harness/rounds.ts'
import type { Run, Table } from '../topic.ts'

/** What was measured of one topic, raw. */
export interface TopicResults {
  environment: Environment
  extent: Extent
  /** Seconds that all of it took. Not in results from before it was taken down. */
  tookSeconds?: number
  /** What could not be measured there, and why. */
  skipped?: string[]
  tables: Table[]
  runs: Run[]
}

/** Everything that was measured, by topic. */
export type Results = Record<string, TopicResults>

const FOLDER = join(import.meta.dirname, '../results')

/** What was measured so far: a file for each topic. */
export async function readResults(): Promise<Results> {
  const files = (await readdir(FOLDER).catch(() => [])).filter((name) => name.endsWith('.json')).sort()
  const read = async (name: string) => JSON.parse(await readFile(join(FOLDER, name), 'utf8')) as TopicResults
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name.slice(0, -'.json'.length), await read(name)])),
  ) as Results
}

/** Writes the results of a topic: a run on each line, so that they can be read and compared. */
export async function writeResults(topic: string, { runs, ...rest }: TopicResults): Promise<void> {
  const lines = runs.map((run) => `    ${JSON.stringify(run)}`)
  const body = JSON.stringify(rest, null, 2).replace(/\n\}$/, '')
  const list = lines.length > 0 ? `\n${lines.join(',\n')}\n  ` : ''
  await writeWhole(join(FOLDER, `${topic}.json`), `${body},\n  "runs": [${list}]\n}\n`)
}

/** Writes a file so that nobody ever finds half of it. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}`
  try {
    await writeFile(unfinished, text)
    await rename(unfinished, file)
  } finally {
    await rm(unfinished, { force: true })
  }
}
