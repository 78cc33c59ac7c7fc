import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isInstalled } from '../../../local/processes/install-system-packages.ts'
import { PROJECT, stateDirectory } from '../npm-script.ts'

const hasSystemd = await isInstalled('systemd-analyze')

it.skipIf(!hasSystemd)('the unit of docs/one-machine.md has no mistake that systemd would report', async () => {
  const folder = await stateDirectory()
  const programs = join(folder, 'node_modules/.bin')
  await mkdir(programs, { recursive: true })
  await writeFile(join(programs, 'slotted-counter'), '#!/bin/sh\n', { mode: 0o755 })
  const page = await readFile(join(PROJECT, 'docs/one-machine.md'), 'utf8')
  const [, unit] = /```ini\n(.*?)```/s.exec(page)!
  const file = join(folder, 'slotted-counter.service')
  await writeFile(file, unit!.replaceAll('/srv/my-counter', folder))
  // Otherwise it exits with 0 after warnings. Those of this machine's units, which it prints too, do not matter.
  const verify = () => promisify(execFile)('systemd-analyze', ['verify', '--recursive-errors=no', file])
  await verify()
  await writeFile(file, unit!.replaceAll('/srv/my-counter', folder).replace('Restart=', 'Restrt='))
  await expect(verify()).rejects.toThrow("Unknown key 'Restrt'")
})
