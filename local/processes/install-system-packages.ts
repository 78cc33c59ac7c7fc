import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

/** The packages to install, by package manager. */
export interface SystemPackages {
  debian: readonly string[]
  /** Absent if Homebrew does not have them. */
  homebrew?: readonly string[]
}

/**
 * Installs packages with apt-get or Homebrew. Prints the reason and the commands.
 *
 * @returns `false` if neither can be used here
 * @throws {Error} if a command fails, with what it said
 */
export async function installPackages(
  packages: SystemPackages,
  reason: string,
  say: (line: string) => void,
): Promise<boolean> {
  const steps = await stepsFor(packages)
  if (steps === null) return false
  say(reason)
  // Also of the commands before: without a network, `apt-get update` only warns.
  let said = ''
  for (const [command, ...args] of steps) {
    say(`  ${[command, ...args].join(' ')}`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const child = spawn(command!, args, { stdio: ['inherit', 'ignore', 'pipe'], env })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed with exit code ${code}:\n${said.trimEnd()}`)
  }
  return true
}

async function stepsFor({ debian, homebrew }: SystemPackages): Promise<string[][] | null> {
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

/** Whether the PATH has a command. */
export function isInstalled(command: string): Promise<boolean> {
  return promisify(execFile)('sh', ['-c', `command -v ${command}`]).then(
    () => true,
    () => false,
  )
}
