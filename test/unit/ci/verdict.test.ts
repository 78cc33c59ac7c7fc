import { expect, it } from 'vitest'
import type { FileResult, RunResult } from '../../../.ci/results.ts'
import { again, summary } from '../../../.ci/verdict.ts'

function file(name: string, failures: string[] = []): FileResult {
  return { file: `test/${name}.test.ts`, project: name.split('/')[0]!, milliseconds: 1_500, passed: 3, failures }
}

function run(files: FileResult[], errors: string[] = []): RunResult {
  return { files, errors }
}

it('gives two failed files of browser and local a second chance', () => {
  const failed = run([file('browser/a', ['x']), file('local/b', ['y']), file('worker/c')])
  const files = ['test/browser/a.test.ts', 'test/local/b.test.ts']
  expect(again(new Map([['MySQL', failed]]), 'MySQL')).toEqual({ lines: files, ok: true })
})

it.each<[string, Record<string, RunResult>]>([
  ['three files failed', { MySQL: run(['local/a', 'local/b', 'browser/c'].map((name) => file(name, ['x']))) }],
  [
    'two files have had one in another run',
    {
      MariaDB: run([file('local/a', ['x']), file('local/b', ['x'])]),
      'MariaDB-again': run([file('local/a'), file('local/b')]),
      MySQL: run([file('browser/c', ['x'])]),
    },
  ],
  ...['unit', 'database', 'worker', 'faults'].map((project): [string, Record<string, RunResult>] => [
    `a test of ${project} failed as well`,
    { MySQL: run([file('browser/a', ['x']), file(`${project}/b`, ['y'])]) },
  ]),
  ['there was an error outside all tests', { MySQL: run([file('local/a', ['x'])], ['rejected']) }],
])('gives none if %s', (_, runs) => {
  expect(again(new Map(Object.entries(runs)), 'MySQL')).toEqual({ lines: [], ok: true })
})

it('says if the results do not explain a failure', () => {
  expect(again(new Map([['MySQL', run([file('local/a')])]]), 'MySQL')).toEqual({ lines: [], ok: false })
  expect(again(new Map(), 'MySQL')).toEqual({ lines: [], ok: false })
})

it('passes a run whose failed file passes the second time, and names its tests before the last line', () => {
  const runs = new Map([
    ['MySQL', run([file('browser/a', ['x', 'y']), file('worker/b')])],
    ['MySQL-again', run([file('browser/a')])],
  ])
  const { lines, ok } = summary(runs, [])
  const flaky = ['flaky: test/browser/a.test.ts: x', 'flaky: test/browser/a.test.ts: y']
  expect(lines.slice(-3)).toEqual([...flaky, '6 passed, 0 failed'])
  expect(ok).toBe(true)
})

it('fails a run whose file fails twice', () => {
  const failed = run([file('browser/a', ['x'])])
  const { lines, ok } = summary(
    new Map([
      ['MySQL', failed],
      ['MySQL-again', failed],
    ]),
    [],
  )
  expect(lines.slice(-2)).toEqual(['failed: test/browser/a.test.ts: x (MySQL)', '3 passed, 1 failed'])
  expect(ok).toBe(false)
})

it.each<[string, Record<string, RunResult>, string[]]>([
  ['a step failed', { MySQL: run([file('unit/a')]) }, ['npm run check']],
  ['there was an error outside all tests', { MySQL: run([file('unit/a')], ['rejected']) }, []],
  [
    'there was one in the second chance',
    { MySQL: run([file('local/a', ['x'])]), 'MySQL-again': run([file('local/a')], ['rejected']) },
    [],
  ],
])('fails a run without a failed test if %s', (_, runs, failedSteps) => {
  const { lines, ok } = summary(new Map(Object.entries(runs)), failedSteps)
  expect(lines.at(-1)).toBe('3 passed, 1 failed')
  expect(ok).toBe(false)
})

it('fails a run in which no test ran', () => {
  expect(summary(new Map(), []).ok).toBe(false)
})
