import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { QUESTIONS, TOPICS } from '../topics/topics.ts'
import { chartsOf, renderChart } from './chart.ts'
import { renderHeadline } from './headline.ts'
import { renderReport } from './report.ts'
import { type Results, writeWhole } from './results.ts'

const PROJECT = join(import.meta.dirname, '../..')
const CHARTS = join(PROJECT, 'bench/charts')

/** Everything that is rendered from results, by its path in the project. */
export async function renderOutputs(results: Results): Promise<Map<string, string>> {
  const outputs = new Map([['bench/README.md', renderReport(QUESTIONS, results)]])
  for (const topic of TOPICS) {
    const measured = results[topic.name]
    if (measured === undefined) continue
    for (const chart of chartsOf(topic, measured)) {
      outputs.set(`bench/charts/${chart.name}.svg`, await renderChart(chart))
    }
  }
  outputs.set('README.md', renderHeadline(await readFile(join(PROJECT, 'README.md'), 'utf8'), results))
  return outputs
}

/** Writes what is rendered from results, and removes charts of what is no longer there. */
export async function writeOutputs(results: Results): Promise<void> {
  const outputs = await renderOutputs(results)
  for (const [path, text] of outputs) await writeWhole(join(PROJECT, path), text)
  for (const name of await chartFiles()) {
    if (!outputs.has(`bench/charts/${name}`)) await rm(join(CHARTS, name))
  }
}

/** The files of the charts there are. */
export async function chartFiles(): Promise<string[]> {
  return (await readdir(CHARTS).catch(() => [])).sort()
}
