// Judges the results of a folder: one file NAME.json for each run of vitest, in the form of results.ts. NAME-again.json has the
// second chance of files that failed in NAME.
//
//   verdict.ts FOLDER again NAME               prints the files of NAME that get a second chance. Exits with 1 if nothing in
//                                              the results of NAME says why vitest failed
//   verdict.ts FOLDER summary [FAILED-STEP…]   prints the slowest files, what failed, what was flaky, and the sums. Exits
//                                              with 1 if anything failed
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunResult } from './results.ts'

/**
 * The projects whose files may run once more: a real browser or a whole process tree is part of their tests. Never the others:
 * there, a test that fails once in a thousand runs has found something.
 */
const SECOND_CHANCE = new Set(['browser', 'local'])
/** The most files that get a second chance, over all runs. */
const MOST_FILES = 2
const SLOWEST = 10
const AGAIN = '-again'

/** The results of runs by name. */
export type Runs = ReadonlyMap<string, RunResult>

if (import.meta.main) {
  const [folder = '', command, ...args] = process.argv.slice(2)
  const runs: Runs = new Map(
    readdirSync(folder).map((name) => [
      name.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(folder, name), 'utf8')),
    ]),
  )
  const { lines, ok } = command === 'again' ? again(runs, args[0]!) : summary(runs, args)
  for (const line of lines) console.log(line)
  if (!ok) process.exitCode = 1
}

/** The files of a failed run that get a second chance. Not `ok`: nothing in the results says why it failed. */
export function again(runs: Runs, name: string): { lines: string[]; ok: boolean } {
  const { files, errors } = runs.get(name) ?? { files: [], errors: [] }
  const failed = files.filter(({ failures }) => failures.length > 0)
  const used = [...runs].filter(([of]) => of.endsWith(AGAIN)).reduce((sum, [, second]) => sum + second.files.length, 0)
  const allowed =
    errors.length === 0 &&
    used + failed.length <= MOST_FILES &&
    failed.every(({ project }) => SECOND_CHANCE.has(project))
  return { lines: allowed ? failed.map(({ file }) => file) : [], ok: failed.length > 0 || errors.length > 0 }
}

/** The report of all runs. `ok`: everything passed, at the second chance at the latest. */
export function summary(runs: Runs, failedSteps: readonly string[]): { lines: string[]; ok: boolean } {
  const failures = failedSteps.map((step) => `failed: ${step}`)
  const flaky: string[] = []
  const times: { milliseconds: number; line: string }[] = []
  let passed = 0
  for (const [name, { files, errors }] of [...runs].filter(([of]) => !of.endsWith(AGAIN))) {
    const second = runs.get(name + AGAIN)
    const outside = [...errors, ...(second?.errors ?? [])]
    failures.push(...outside.map((error) => `failed: outside all tests: ${error} (${name})`))
    for (const first of files) {
      const last = second?.files.find(({ file }) => file === first.file) ?? first
      passed += last.passed
      failures.push(...last.failures.map((test) => `failed: ${last.file}: ${test} (${name})`))
      if (last.failures.length === 0) flaky.push(...first.failures.map((test) => `flaky: ${first.file}: ${test}`))
      const seconds = (first.milliseconds / 1_000).toFixed(1).padStart(6)
      times.push({ milliseconds: first.milliseconds, line: `${seconds} s  ${first.file} (${name})` })
    }
  }
  const slowest = times.sort((one, other) => other.milliseconds - one.milliseconds).slice(0, SLOWEST)
  const lines = ['', `== the ${SLOWEST} slowest files`, ...slowest.map(({ line }) => line), '', ...failures, ...flaky]
  return {
    lines: [...lines, `${passed} passed, ${failures.length} failed`],
    ok: failures.length === 0 && passed > 0,
  }
}
