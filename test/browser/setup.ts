import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { installPackages } from '../../local/packages.ts'
import { buildWorker } from '../../local/workerd.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The Worker's module, built as `wrangler deploy` builds it, without anything of the tests in it. */
    shippedWorker: string
    /** The path of Chromium's program. */
    chromium: string
  }
}

/** The browser, and letters for what it shows. */
const DEBIAN_PACKAGES = ['chromium', 'fonts-liberation']

/** Builds the Worker, and sees to it that there is a browser, once for all tests of this folder. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide('chromium', (await findChromium()) ?? (await installChromium()))
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-shipped-'))
  // Not a teardown, which an interrupted runner leaves out.
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
  if (found === undefined) throw new Error(`${DEBIAN_PACKAGES.join(' and ')} brought no Chromium.`)
  return found
}
