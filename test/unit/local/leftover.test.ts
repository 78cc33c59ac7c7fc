import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { endLeftover } from '../../../local/processes/server-process.ts'

it('A process that an earlier start left running is found in any folder, without a locale too', async () => {
  vi.stubEnv('LC_ALL', 'C')
  onTestFinished(() => void vi.unstubAllEnvs())
  const folder = await mkdtemp(join(tmpdir(), 'my ünï '))
  onTestFinished(() => rm(folder, { recursive: true }))
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)', folder], { detached: true })
  onTestFinished(() => void left.kill('SIGKILL'))
  const ended = once(left, 'exit')
  await once(left, 'spawn')
  await writeFile(join(folder, 'x.pid.json'), JSON.stringify({ pid: left.pid, marker: folder, graceMs: 30_000 }))
  expect(await endLeftover(folder, 'x')).toBe(true)
  expect(await ended).toEqual([null, 'SIGTERM'])
})
