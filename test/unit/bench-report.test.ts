import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { beforeAll, describe, expect, it } from 'vitest'
import { chartsOf, renderChart } from '../../bench/report/chart.ts'
import { renderHeadline } from '../../bench/report/headline.ts'
import { chartFiles, renderOutputs } from '../../bench/report/outputs.ts'
import { renderReport } from '../../bench/report/report.ts'
import { type Results, readResults, type TopicResults } from '../../bench/report/results.ts'
import { FIGURES, type Figures, type Topic } from '../../bench/topic.ts'
import { QUESTIONS, TOPICS, topicsOf } from '../../bench/topics/topics.ts'

const PROJECT = join(import.meta.dirname, '../..')
const ROUNDS = 5

/** What measuring a topic could have given: no figure is 0, none is like another. */
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

describe('what is written from the benchmarks’ results', () => {
  let results: Results
  let outputs: Map<string, string>
  beforeAll(async () => {
    results = await readResults()
    outputs = await renderOutputs(results)
  })

  it('is what the results give: the report, its charts, and the figures in README.md', async () => {
    for (const [path, text] of outputs) {
      expect(await readFile(join(PROJECT, path), 'utf8'), `${path}: npm run bench -- --render`).toBe(text)
    }
  })

  it('leaves no chart behind of what is no longer there', async () => {
    const charts = [...outputs.keys()].filter((path) => path.endsWith('.svg'))
    expect((await chartFiles()).map((name) => `bench/charts/${name}`)).toEqual(charts.sort())
  })

  it('comes from a file of results for each benchmark, and from nothing else', async () => {
    const names = (await readdir(join(PROJECT, 'bench/results'))).map((name) => name.replace(/\.json$/, ''))
    expect(TOPICS.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
  })

  it('has nothing to say where nothing was measured', () => {
    const readme = '<!-- figures: written by npm run bench -- --render --><!-- /figures -->'
    expect(renderHeadline(readme, {})).not.toContain('\n- ')
    expect(renderReport(QUESTIONS, {})).not.toMatch(/NaN|undefined|!\[/)
  })

  it('puts the figures that were measured last into README.md, and touches nothing else of it', () => {
    const readme = 'before\n<!-- figures: written by npm run bench -- --render -->\nold\n<!-- /figures -->\nafter\n'
    const idle = TOPICS.find(({ name }) => name === 'idle')!
    const [first, second] = [1, 2].map((seed) => renderHeadline(readme, { idle: invent(idle, seed) })) as [
      string,
      string,
    ]
    expect(first).not.toContain('old')
    expect(first).toMatch(/^before\n[\s\S]*1,010 ms[\s\S]*\nafter\n$/)
    expect(second).toContain('2,010 ms')
    expect(renderHeadline(first, { idle: invent(idle, 2) })).toBe(second)
  })
})

describe('names of benchmarks', () => {
  const named = (...names: string[]) => topicsOf(names).map(({ name }) => name)

  it('stand for a question with all of its parts, or for a part', () => {
    for (const [first, ...parts] of QUESTIONS) {
      expect(topicsOf([first.name])).toEqual([first, ...parts])
      for (const part of parts) expect(topicsOf([part.name])).toEqual([part])
    }
    expect(named('direct', 'contention')).toEqual(['contention', 'direct'])
    expect(named('faults', 'reading')).toEqual(['reading', 'faults'])
    expect(topicsOf([])).toEqual(TOPICS)
  })
})

describe.each(TOPICS)('the benchmark $name', (topic) => {
  it('tells its variants apart, and compares those that it has', () => {
    const names = topic.variants.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { of, to = of } of topic.comparisons) expect(names).toEqual(expect.arrayContaining([of, to]))
  })

  it('finds all figures of its report in what it measures', () => {
    const measured = invent(topic, 1)
    const sentences = topic.findings?.(measured) ?? []
    const tables = topic.derived?.(measured) ?? []
    expect(JSON.stringify([sentences, tables])).not.toMatch(/NaN|undefined|Infinity/)
    const report = renderReport([[topic]], { [topic.name]: measured })
    expect(report).toContain(`## ${topic.title}`)
    for (const sentence of sentences) expect(report).toContain(sentence)
  })

  it('draws well-formed charts that have axes, also of what was measured in part', async () => {
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
        // The same figures give the same text, whenever they are drawn.
        expect((await renderChart(chart)) === svg).toBe(true)
      }
    }
  })
})
