import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
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

it.each([
  ['moved away', 'data is missing or damaged', async () => {}],
  ['on a disk that is not mounted', 'did not start', (data: string) => symlink('/nowhere', data)],
])('Settings whose data is %s are refused and kept', async (_, refusal, prepare) => {
  const directory = await stateDirectory()
  const settings = join(directory, 'settings.json')
  await writeFile(settings, '{"product":"mariadb","password":"secret","port":1}')
  await prepare(join(directory, 'data'))
  await expect(startDatabaseServer({ directory, say: () => {} })).rejects.toThrow(refusal)
  expect(await readFile(settings, 'utf8')).toContain('secret')
})

it('Settings that cannot be read are not taken for none', async () => {
  const directory = await stateDirectory()
  await mkdir(join(directory, 'data'))
  await mkdir(join(directory, 'settings.json'))
  await expect(startDatabaseServer({ directory, say: () => {} })).rejects.toThrow('EISDIR')
})
