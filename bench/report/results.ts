import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Environment } from '../harness/environment.ts'
import type { Extent, Repeats } from '../harness/run-rounds.ts'
import type { Run } from '../harness/variant.ts'

/** A table that is not made of runs, in the form in which it is shown. */
export interface Table {
  title: string
  headings: string[]
  rows: string[][]
  /** What its figures are, for readers of the report. */
  text?: string
}

/** The raw results of one topic. */
export interface TopicResults {
  environment: Environment
  extent: Extent
  /** Total seconds without repeats. Missing in results from before this was recorded. */
  tookSeconds?: number
  /** Runs that were repeated because the host gave much processor time to others. Missing in results from before that. */
  repeats?: Repeats
  /** Why variants were skipped. */
  skipped?: string[]
  tables: Table[]
  runs: Run[]
}

/** All results, by topic. */
export type Results = Record<string, TopicResults>

const FOLDER = join(import.meta.dirname, '../results')

/** Reads all results. Each topic has a file. */
export async function readResults(): Promise<Results> {
  const files = (await readdir(FOLDER).catch(() => [])).filter((name) => name.endsWith('.json')).sort()
  const read = async (name: string) => JSON.parse(await readFile(join(FOLDER, name), 'utf8')) as TopicResults
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name.slice(0, -'.json'.length), await read(name)])),
  ) as Results
}

/** Writes the results of a topic, with one run or table row per line, so that diffs can be read. */
export async function writeResults(topic: string, results: TopicResults): Promise<void> {
  await writeAtomically(join(FOLDER, `${topic}.json`), formatResults(results))
}

/** Results as they are written to their file. */
export function formatResults({ tables, runs, ...rest }: TopicResults): string {
  const body = JSON.stringify(rest, null, 2).replace(/\n\}$/, '')
  const list = (items: readonly unknown[], indent: string) =>
    items.length === 0
      ? '[]'
      : `[\n${items.map((item) => `${indent}  ${JSON.stringify(item)}`).join(',\n')}\n${indent}]`
  const tableTexts = tables.map(({ rows, ...table }) => {
    return `    ${JSON.stringify(table).replace(/\}$/, '')},"rows":${list(rows, '    ')}}`
  })
  const tableList = tableTexts.length === 0 ? '[]' : `[\n${tableTexts.join(',\n')}\n  ]`
  return `${body},\n  "tables": ${tableList},\n  "runs": ${list(runs, '  ')}\n}\n`
}

/** Writes a file so that readers never see half of it. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}`
  try {
    await writeFile(unfinished, text)
    await rename(unfinished, file)
  } finally {
    await rm(unfinished, { force: true })
  }
}
