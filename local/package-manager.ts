import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The commands that install something on this machine.
 *
 * @param debian its packages on Debian and Ubuntu
 * @param brew its formula on macOS, if there is one that does
 * @returns `null` if there is no way to install it from here
 */
export async function installSteps(debian: readonly string[], brew?: string): Promise<string[][] | null> {
  if (await exists('apt-get')) {
    const root = process.getuid?.() === 0 ? [] : (await exists('sudo')) ? ['sudo'] : null
    if (root === null) return null
    return [
      [...root, 'apt-get', 'update', '-qq'],
      [...root, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...debian],
    ]
  }
  return brew !== undefined && (await exists('brew')) ? [['brew', 'install', brew]] : null
}

/**
 * Runs commands one after the other, saying each.
 *
 * @throws {Error} at the first that fails
 */
export async function runSteps(steps: readonly string[][], say: (line: string) => void): Promise<void> {
  for (const [command, ...args] of steps) {
    say(`  ${[command, ...args].join(' ')}`)
    const code = await new Promise<number | null>((resolve, reject) => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const child = spawn(command!, args, { stdio: ['inherit', 'ignore', 'inherit'], env })
      child.once('error', reject)
      child.once('exit', resolve)
    })
    if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed with exit code ${code}.`)
  }
}

async function exists(command: string): Promise<boolean> {
  return run('sh', ['-c', `command -v ${command}`]).then(
    () => true,
    () => false,
  )
}
