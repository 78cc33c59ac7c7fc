import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PROJECT, stateDirectory } from './npm-script.ts'

/** A start that takes the lock of a directory, says whether it got it, and gives it back when it is told to. */
const START = `
  import { InstanceLock } from ${JSON.stringify(join(PROJECT, 'local/instance.ts'))}
  try {
    const lock = await InstanceLock.take(process.argv[1], 'http://127.0.0.1:1')
    process.stdin.resume().on('end', () => lock.release())
    console.log('taken')
  } catch (error) {
    console.log(error.message)
  }`

/** Starts one; what it says first. */
function start(directory: string): { child: ChildProcess; said: Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', START, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  return {
    child,
    said: new Promise((resolve) => child.stdout!.once('data', (text: Buffer) => resolve(text.toString()))),
  }
}

it('one state directory is taken by one start at a time, also when several find what killed ones have left', async () => {
  const directory = await stateDirectory()
  await writeFile(
    join(directory, 'instance.json'),
    JSON.stringify({ id: 'x', pid: 2 ** 22 - 1, args: 'killed', url: 'x' }),
  )
  for (let round = 0; round < 4; round++) {
    const starts = Array.from({ length: 4 }, () => start(directory))
    const said = await Promise.all(starts.map((one) => one.said))
    expect(said.filter((text) => text === 'taken\n')).toHaveLength(1)
    expect(said.filter((text) => text.startsWith('It is running already, as process'))).toHaveLength(3)
    const { child } = starts[said.indexOf('taken\n')]!
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Killed in the first rounds, so that the next ones find one more; released in the last.
    if (round < 2) child.kill('SIGKILL')
    else child.stdin!.end()
    await ended
  }
  expect(await readdir(directory)).toEqual([])
})
