import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node'

/** What one test file did. */
export interface FileResult {
  file: string
  project: string
  milliseconds: number
  passed: number
  /** What failed: tests by their full names, or the file itself if it does not load or a hook outside its tests fails. */
  failures: string[]
}

/** What a run of vitest did. */
export interface RunResult {
  files: FileResult[]
  /** Errors outside all tests, such as an unhandled rejection. */
  errors: string[]
}

/** Writes the result of a run as JSON to the file that RESULTS names. */
export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message: string }[], reason: TestRunEndReason): void {
    const messages = errors.map(({ message }) => message)
    if (reason === 'interrupted') messages.push('The run was interrupted.')
    const result: RunResult = { files: modules.map(resultOf), errors: messages }
    writeFileSync(process.env.RESULTS!, JSON.stringify(result))
  }
}

function resultOf(module: TestModule): FileResult {
  const failures = [...module.children.allTests('failed')].map(({ fullName }) => fullName)
  const errors = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors())
  return {
    file: relative('.', module.moduleId),
    project: module.project.name,
    milliseconds: Math.round(module.diagnostic().duration),
    passed: [...module.children.allTests('passed')].length,
    failures: failures.length > 0 || module.ok() ? failures : [`outside its tests: ${errors[0]?.message}`],
  }
}
