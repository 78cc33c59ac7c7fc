import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from './machine.ts'
import type { Extent } from './rounds.ts'
import type { Run, Table } from './topic.ts'

/** What was measured of one topic, raw. */
export interface TopicResults {
  environment: Environment
  extent: Extent
  runs: Run[]
  tables: Table[]
}

/** Everything that was measured, by topic. */
export type Results = Record<string, TopicResults>

const FILE = join(import.meta.dirname, 'results/write-path.json')

/** What was measured before. */
export async function readResults(): Promise<Results> {
  const text = await readFile(FILE, 'utf8').catch(() => null)
  return text === null ? {} : (JSON.parse(text) as Results)
}

/** Writes the results: a run on each line, so that they can be read and compared. */
export async function writeResults(results: Results): Promise<void> {
  const topics = Object.entries(results).map(([name, { runs, ...rest }]) => {
    const lines = runs.map((run) => `      ${JSON.stringify(run)}`)
    const body = JSON.stringify(rest, null, 2)
      .replace(/^/gm, '  ')
      .trim()
      .replace(/\n {2}\}$/, '')
    return `  ${JSON.stringify(name)}: ${body},\n    "runs": [${lines.length > 0 ? `\n${lines.join(',\n')}\n    ` : ''}]\n  }`
  })
  await writeWhole(FILE, `{\n${topics.join(',\n')}\n}\n`)
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
