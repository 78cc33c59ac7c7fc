import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startDatabaseServer } from '../../../local/database/database-server.ts'
import { stateDirectory } from '../npm-script.ts'

it.each([
  ['lost', null],
  ['cut off', '{"product":"maria'],
])('Data whose settings are %s is refused and kept', async (_, settings) => {
  const directory = await stateDirectory()
  await mkdir(join(directory, 'data'))
  await writeFile(join(directory, 'data/ibdata1'), 'counts')
  if (settings !== null) await writeFile(join(directory, 'settings.json'), settings)
  const started = startDatabaseServer({ directory, say: () => {} })
  await expect(started).rejects.toThrow('settings.json is missing or damaged')
  expect(await readFile(join(directory, 'data/ibdata1'), 'utf8')).toBe('counts')
})

it('Settings that cannot be read are not taken for none', async () => {
  const directory = await stateDirectory()
  await mkdir(join(directory, 'data'))
  await mkdir(join(directory, 'settings.json'))
  await expect(startDatabaseServer({ directory, say: () => {} })).rejects.toThrow('EISDIR')
})
