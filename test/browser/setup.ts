import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { installPackages } from '../../local/processes/install-system-packages.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chromium: string
  }
}

/** Finds or installs a browser, once for all tests in this folder. */
export default async function setup(project: TestProject): Promise<void> {
  const why = 'The tests need Chromium, which is not installed. Installing it:'
  // With fonts for its pages.
  const install = () => installPackages({ debian: ['chromium', 'fonts-liberation'] }, why, console.log)
  const found = (await findChromium()) || ((await install()) && (await findChromium()))
  if (!found) throw new Error('The tests need Chromium. Install it, so that `chromium` runs it.')
  project.provide('chromium', found)
}

async function findChromium(): Promise<string> {
  const script = 'command -v chromium || command -v chromium-browser || command -v google-chrome'
  const { stdout } = await promisify(execFile)('sh', ['-c', script]).catch(() => ({ stdout: '' }))
  return stdout.trim()
}
