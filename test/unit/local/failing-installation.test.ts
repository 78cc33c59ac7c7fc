import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { installProgram } from '../../../local/database/database-program.ts'

it('An installation that fails says what apt-get said, and what else to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = (name: string, script: string) =>
    writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  await program('sudo', 'exec "$@"')
  await program('apt-get', 'echo "E: The repository is not signed." >&2; exit 100')
  vi.stubEnv('PATH', folder + delimiter + process.env.PATH)
  onTestFinished(() => void vi.unstubAllEnvs())
  await expect(installProgram(() => {})).rejects.toThrow(
    /apt-get update -qq failed with exit code 100:\nE: The repository is not signed\.\nInstall one of them .*MYSQL_URL=/s,
  )
})
