import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PROJECT, stateDirectory } from './npm-script.ts'

/** Locks a directory, prints whether that worked, and releases the lock when standard input ends. */
const START = `
  import { lockStateDirectory } from ${JSON.stringify(join(PROJECT, 'local/state-directory-lock.ts'))}
  try {
    const unlock = await lockStateDirectory(process.argv[1], 'http://127.0.0.1:1', 'npm start')
    process.stdin.resume().on('end', unlock)
    console.log('locked')
  } catch (error) {
    console.log(error.message)
  }`

/** Starts a process that locks a directory. */
function start(directory: string): { child: ChildProcess; output: Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', START, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  return {
    child,
    output: new Promise((resolve) => child.stdout!.once('data', (text: Buffer) => resolve(text.toString()))),
  }
}

it('A state directory is locked by one start at a time, even if several start at once after one was killed', async () => {
  const directory = await stateDirectory()
  for (const ending of ['kill', 'kill', 'release', 'release'] as const) {
    const starts = Array.from({ length: 4 }, () => start(directory))
    const outputs = await Promise.all(starts.map(({ output }) => output))
    expect(outputs.filter((text) => text === 'locked\n')).toHaveLength(1)
    const { child } = starts[outputs.indexOf('locked\n')]!
    const refused = outputs.filter((text) =>
      text.startsWith(`It is running already, as process ${child.pid}, at http:`),
    )
    expect(refused).toHaveLength(3)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (ending === 'kill') child.kill('SIGKILL')
    else child.stdin!.end()
    await ended
  }
})
