import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { installPackages } from '../../local/processes/install-system-packages.ts'
import { buildWorker } from '../../local/worker/workerd.ts'
import { packPackage } from '../local/packed-package.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** An address that answers with the path of the Worker's module, built as `wrangler deploy` builds it, without any test code. */
    shippedWorker: string
    /** An address that answers with the path of the packed package. */
    packedPackage: string
    /** The path of Chromium. */
    chromium: string
  }
}

/** The browser, and fonts for its pages. */
const DEBIAN_PACKAGES = ['chromium', 'fonts-liberation']

/**
 * Finds or installs a browser, builds the Worker and packs the package, once for all tests in this folder. The last two are done
 * when a test first asks for them, because the one that `npm test` runs does without.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  project.provide('chromium', (await findChromium()) ?? (await installChromium()))
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-shipped-'))
  // Not in a teardown: an interrupted runner skips it.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const make = { '/worker': () => buildWorker(directory), '/package': () => packPackage(directory) }
  const made = new Map<string, Promise<string>>()
  const server = createServer(async ({ url = '' }, response) => {
    try {
      if (!made.has(url)) made.set(url, make[url as keyof typeof make]())
      response.end(await made.get(url))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  project.provide('shippedWorker', `${url}/worker`)
  project.provide('packedPackage', `${url}/package`)
  return () => {
    server.closeAllConnections()
    server.close()
  }
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
