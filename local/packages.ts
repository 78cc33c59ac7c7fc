import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

/** What a program is called where it is installed from. */
export interface Packages {
  debian: readonly string[]
  /** Default: not to be had there. */
  homebrew?: readonly string[]
}

/**
 * Installs programs with the platform's package manager, saying why, and showing the commands that it runs.
 *
 * @returns whether there is a way to install them from here
 * @throws {Error} if a command fails
 */
export async function installPackages(packages: Packages, why: string, say: (line: string) => void): Promise<boolean> {
  const steps = await stepsFor(packages)
  if (steps === null) return false
  say(why)
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
  return true
}

async function stepsFor({ debian, homebrew }: Packages): Promise<string[][] | null> {
  if (await isInstalled('apt-get')) {
    const root = process.getuid?.() === 0 ? [] : (await isInstalled('sudo')) ? ['sudo'] : null
    if (root === null) return null
    return [
      [...root, 'apt-get', 'update', '-qq'],
      [...root, 'apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...debian],
    ]
  }
  return homebrew !== undefined && (await isInstalled('brew')) ? [['brew', 'install', ...homebrew]] : null
}

/** Whether a command can be run by its name. */
export function isInstalled(command: string): Promise<boolean> {
  return promisify(execFile)('sh', ['-c', `command -v ${command}`]).then(
    () => true,
    () => false,
  )
}
