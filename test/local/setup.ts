import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { installPackages, isInstalled } from '../../local/processes/install-system-packages.ts'
import { packPackage } from './packed-package.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** An address that answers with the path of the packed package. */
    packedPackage: string
  }
}

/** The programs that tests of this folder run, and their packages. */
const PROGRAMS = { curl: 'curl', wget: 'wget', aria2c: 'aria2', axel: 'axel', jq: 'jq' }

/** Installs missing programs, and packs the package when a test first asks for it: both once for all files, which run side by side. */
export default async function setup(project: TestProject): Promise<() => void> {
  await installPrograms()
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-packed-'))
  // Not in a teardown: an interrupted runner skips it.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  let packed: Promise<string> | undefined
  const server = createServer(async (_, response) => {
    packed ??= packPackage(directory)
    await packed.then(
      (path) => response.end(path),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  project.provide('packedPackage', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return () => {
    server.closeAllConnections()
    server.close()
  }
}

async function installPrograms(): Promise<void> {
  const missing: string[] = []
  for (const [program, name] of Object.entries(PROGRAMS)) if (!(await isInstalled(program))) missing.push(name)
  if (missing.length === 0) return
  const packages = { debian: missing, homebrew: missing }
  if (await installPackages(packages, `The tests need ${missing.join(', ')}. Installing:`, console.log)) return
  throw new Error(`The tests need ${missing.join(', ')}. Install them.`)
}
