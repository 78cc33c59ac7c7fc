import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { ServerProcess } from '../../../local/processes/server-process.ts'

it('A process whose record cannot be written does not keep running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'file'), '')
  const started = ServerProcess.start({
    name: 'x',
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1_000)', folder],
    records: join(folder, 'file'),
    marker: folder,
    output: 'pipe',
    graceMs: 10_000,
  })
  await expect(started).rejects.toThrow('EEXIST')
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'args='])
  expect(stdout).not.toContain(folder)
})
