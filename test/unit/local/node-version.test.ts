import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PROJECT } from '../../../local/project-root.ts'
import packageJson from '../../../package.json' with { type: 'json' }

it.each([
  ['18.20.8', 1, 'This Node.js is too old: '],
  ['22.17.1', 1, 'This Node.js is too old: '],
  ['22.18.0', 0, ''],
])('npm start on a Node.js that is %s ends with %i and says: %s', async (version, status, says) => {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const old = join(folder, 'old.cjs')
  await writeFile(
    old,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
  )
  const started = spawnSync('sh', ['-c', `${packageJson.scripts.start} --help`], {
    cwd: PROJECT,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NODE_OPTIONS: `--require=${old}` },
  })
  expect([started.status, String(started.stderr)]).toEqual([status, expect.stringContaining(says)])
})
