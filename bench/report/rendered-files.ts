import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { renderScaleDocument } from '../topics/scale/scale-document.ts'
import { renderChart } from './chart.ts'
import { renderReadmeFigures } from './readme-figures.ts'
import { type Question, renderReport } from './report.ts'
import { type Results, writeAtomically } from './results.ts'
import { chartsOf } from './topic.ts'

const PROJECT = join(import.meta.dirname, '../..')
const CHARTS = join(PROJECT, 'bench/charts')

/** Documents with figures between markers. */
const DOCUMENTS = {
  'README.md': renderReadmeFigures,
  'docs/scale.md': renderScaleDocument,
}

/** Renders everything that is made from the results, by path in the project. */
export async function renderFiles(questions: readonly Question[], results: Results): Promise<Map<string, string>> {
  const files = new Map([['bench/README.md', renderReport(questions, results)]])
  for (const topic of questions.flat()) {
    const measured = results[topic.name]
    if (measured === undefined) continue
    for (const chart of chartsOf(topic, measured)) {
      files.set(`bench/charts/${chart.name}.svg`, await renderChart(chart))
    }
  }
  for (const [path, render] of Object.entries(DOCUMENTS)) {
    files.set(path, render(await readFile(join(PROJECT, path), 'utf8'), results))
  }
  return files
}

/** Writes everything that is made from the results, and deletes charts that no longer exist. */
export async function writeRenderedFiles(questions: readonly Question[], results: Results): Promise<void> {
  const files = await renderFiles(questions, results)
  for (const [path, text] of files) await writeAtomically(join(PROJECT, path), text)
  for (const name of await chartFiles()) {
    if (!files.has(`bench/charts/${name}`)) await rm(join(CHARTS, name))
  }
}

/** The names of all chart files, sorted. */
export async function chartFiles(): Promise<string[]> {
  return (await readdir(CHARTS).catch(() => [])).sort()
}
