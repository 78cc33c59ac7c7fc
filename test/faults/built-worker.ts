import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildWorker } from '../../local/worker/build-worker.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The module of the observed Worker, built as `wrangler deploy` builds it. */
    builtWorker: string
  }
}

/** Builds the Worker once for all tests of this folder. */
export default async function setup(project: TestProject): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-built-'))
  // Not a teardown: an interrupted runner skips those.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const entry = join(import.meta.dirname, '../harness/observed-worker.ts')
  project.provide('builtWorker', await buildWorker(directory, entry))
}
