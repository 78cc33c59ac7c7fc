import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { lockStateDirectory } from '../../../local/state-directory-lock.ts'

it('A state directory that others could read is closed to them', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await chmod(directory, 0o755)
  const unlock = await lockStateDirectory(directory, 'http://127.0.0.1:1', 'npm start')
  onTestFinished(unlock)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
})
