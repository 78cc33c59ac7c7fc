import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { PROJECT, stateDirectory } from './npm-script.ts'

const run = promisify(execFile)

/** A start that takes the lock of a directory, says whether it got it, and stays long enough to be seen. */
const START = `
  import { InstanceLock } from ${JSON.stringify(join(PROJECT, 'local/instance.ts'))}
  try {
    await InstanceLock.take(process.argv[1], 'http://127.0.0.1:1')
    console.log('taken')
  } catch (error) {
    console.log(error.message)
  }
  process.stdin.on('data', () => {}).on('end', () => process.exit())
  setTimeout(() => process.exit(), 2_000)`

it('one state directory is taken by one start at a time, also when several find what a killed one has left', async () => {
  for (let round = 0; round < 5; round++) {
    const directory = await stateDirectory()
    await writeFile(join(directory, 'instance.json'), JSON.stringify({ pid: 2 ** 22 - 1, args: 'killed', url: 'x' }))
    const starts = await Promise.all(
      Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '-e', START, directory])),
    )
    const said = starts.map(({ stdout }) => stdout.trim())
    expect(said.filter((line) => line === 'taken')).toHaveLength(1)
    expect(said.filter((line) => line.startsWith('It is running already, as process'))).toHaveLength(3)
  }
})
