import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { beforeAll, describe, expect, it } from 'vitest'
import { FIGURES, type Figures } from '../../../bench/harness/figure-names.ts'
import { MISSING_PACKAGES } from '../../../bench/own-packages.ts'
import { renderChart } from '../../../bench/report/chart.ts'
import { judge } from '../../../bench/report/comparison.ts'
import { renderReadmeFigures } from '../../../bench/report/readme-figures.ts'
import { chartFiles, renderFiles } from '../../../bench/report/rendered-files.ts'
import { renderReport } from '../../../bench/report/report.ts'
import { formatResults, type Results, readResults, type TopicResults } from '../../../bench/report/results.ts'
import { chartsOf, type Topic } from '../../../bench/report/topic.ts'
import { QUESTIONS, TOPICS, topicsOf } from '../../../bench/topics/all-topics.ts'

const PROJECT = join(import.meta.dirname, '../../..')
const ROUNDS = 5
/** Drawing charts needs the packages of bench/package.json, which CI installs. */
const drawing = it.skipIf(MISSING_PACKAGES !== null)

/** Invented results of a topic: no figure is 0, and no two are equal. */
function invent({ variants }: Topic, seed: number): TopicResults {
  const names = Object.keys(FIGURES) as (keyof Figures)[]
  const runs = variants.flatMap((variant, index) =>
    Array.from({ length: ROUNDS }, (_, round) => ({
      round: round + 1,
      variant: variant.name,
      figures: Object.fromEntries(names.map((name, n) => [name, seed * 1_000 + 10 * index + n + round / 10 + 1])),
      violations: [],
    })),
  )
  return {
    environment: {
      date: '2026-11-20T00:00:00.000Z',
      machine: { cpu: 'a processor', cores: 2, memoryGiB: 4, kernel: 'Linux', loadBefore: 0 },
      versions: { database: 'MySQL 9' },
      databaseSettings: {},
    },
    extent: { rounds: ROUNDS, seconds: 1 },
    tookSeconds: 61,
    tables: [],
    runs,
  }
}

function isWellFormed(svg: string): boolean {
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.write(svg).close()
  return true
}

describe('files rendered from the results', () => {
  let results: Results
  let outputs: Map<string, string>
  beforeAll(async () => {
    results = await readResults()
    outputs = MISSING_PACKAGES === null ? await renderFiles(QUESTIONS, results) : new Map()
  })

  drawing('The committed report, charts and README figures are those that the results give', async () => {
    for (const [path, text] of outputs) {
      expect(await readFile(join(PROJECT, path), 'utf8'), `${path}: npm run bench -- --render`).toBe(text)
    }
  })

  drawing('There is no chart file that the report does not use', async () => {
    const charts = [...outputs.keys()].filter((path) => path.endsWith('.svg'))
    expect((await chartFiles()).map((name) => `bench/charts/${name}`)).toEqual(charts.sort())
  })

  it('Every topic that misses a target says why', () => {
    const silent = TOPICS.filter(({ name, comparisons, missed, listed = true }) => {
      const runs = results[name]?.runs ?? []
      return listed && missed === undefined && comparisons.some((comparison) => judge(comparison, runs).met === false)
    })
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  it('Every results file belongs to a topic', async () => {
    const names = (await readdir(join(PROJECT, 'bench/results'))).map((name) => name.replace(/\.json$/, ''))
    expect(TOPICS.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
  })

  it('Results stay the same when they are written and read', () => {
    for (const measured of Object.values(results)) {
      expect(JSON.parse(formatResults(measured))).toEqual(measured)
    }
  })

  it('Without results, the report and README contain no figures', () => {
    const readme = '<!-- figures: headline, written by npm run bench -- --render --><!-- /figures -->'
    expect(renderReadmeFigures(readme, {})).not.toContain('\n- ')
    expect(renderReport(QUESTIONS, {})).not.toMatch(/NaN|undefined|!\[/)
  })

  it('README.md gets the latest figures, and nothing else in it changes', () => {
    const readme =
      'before\n<!-- figures: headline, written by npm run bench -- --render -->\nold\n<!-- /figures -->\nafter\n'
    const idle = TOPICS.find(({ name }) => name === 'idle')!
    const [first, second] = [1, 2].map((seed) => renderReadmeFigures(readme, { idle: invent(idle, seed) })) as [
      string,
      string,
    ]
    expect(first).not.toContain('old')
    expect(first).toMatch(/^before\n[\s\S]*1,010 ms[\s\S]*\nafter\n$/)
    expect(second).toContain('2,010 ms')
    expect(renderReadmeFigures(first, { idle: invent(idle, 2) })).toBe(second)
  })
})

describe('topic names', () => {
  const named = (...names: string[]) => topicsOf(names).map(({ name }) => name)

  it('A name selects a question with all its parts, or a single part', () => {
    for (const [first, ...parts] of QUESTIONS) {
      expect(topicsOf([first.name])).toEqual([first, ...parts])
      for (const part of parts) expect(topicsOf([part.name])).toEqual([part])
    }
    expect(named('latency', 'direct')).toEqual(['latency', 'direct'])
    expect(named('reading', 'many-keys')).toEqual(['many-keys', 'reading'])
    expect(topicsOf([])).toEqual(TOPICS)
  })
})

describe.each(TOPICS)('the topic $name', (topic) => {
  it('Variant names are unique, and comparisons name existing variants', () => {
    const names = topic.variants.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { of, to = of } of topic.comparisons) expect(names).toEqual(expect.arrayContaining([of, to]))
  })

  it('Every figure in its section comes from what it measures', () => {
    const measured = invent(topic, 1)
    const sentences = topic.findings?.(measured) ?? []
    const tables = topic.derived?.(measured) ?? []
    expect(JSON.stringify([sentences, tables])).not.toMatch(/NaN|undefined|Infinity/)
    const report = renderReport([[topic]], { [topic.name]: measured })
    expect(report).toContain(`## ${topic.title}`)
    for (const sentence of sentences) expect(report).toContain(sentence)
  })

  drawing('Charts are well-formed and reproducible, even if only some variants were measured', async () => {
    const whole = invent(topic, 1)
    const [first] = whole.runs
    for (const measured of [
      whole,
      { ...whole, runs: whole.runs.filter(({ variant }) => variant === first?.variant) },
    ]) {
      for (const chart of chartsOf(topic, measured)) {
        const svg = await renderChart(chart)
        expect(isWellFormed(svg)).toBe(true)
        expect(/NaN|undefined/.exec(svg)).toBeNull()
        expect((await renderChart(chart)) === svg).toBe(true)
      }
    }
  })
})
