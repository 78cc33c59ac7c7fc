import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { installPackages } from '../../local/processes/install-system-packages.ts'
import { buildWorker } from '../../local/worker/workerd.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The Worker's module, built as `wrangler deploy` builds it, without any test code. */
    shippedWorker: string
    /** The path of Chromium. */
    chromium: string
  }
}

/** The browser, and fonts for its pages. */
const DEBIAN_PACKAGES = ['chromium', 'fonts-liberation']

/** Builds the Worker and finds or installs a browser, once for all tests in this folder. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide('chromium', (await findChromium()) ?? (await installChromium()))
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-shipped-'))
  // Not in a teardown: an interrupted runner skips it.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  project.provide('shippedWorker', await buildWorker(directory))
}

async function findChromium(): Promise<string | undefined> {
  const script = 'command -v chromium || command -v chromium-browser || command -v google-chrome'
  const { stdout } = await promisify(execFile)('sh', ['-c', script]).catch(() => ({ stdout: '' }))
  return stdout.trim() || undefined
}

async function installChromium(): Promise<string> {
  const why = 'The tests need Chromium, which is not installed. Installing it:'
  if (!(await installPackages({ debian: DEBIAN_PACKAGES }, why, console.log))) {
    throw new Error('The tests need Chromium. Install it, so that `chromium` runs it.')
  }
  const found = await findChromium()
  if (found === undefined) throw new Error(`Chromium was not found after installing ${DEBIAN_PACKAGES.join(' and ')}.`)
  return found
}
