import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installSteps, runSteps } from './package-manager.ts'

const run = promisify(execFile)

/** Servers live in folders that the PATH of a plain user often lacks. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/local/bin', '/opt/homebrew/bin']

/** The server and what sets up its data directory; the package `mariadb-server` would also start a service. */
const DEBIAN_PACKAGES = ['mariadb-server-core', 'mariadb-client-core']

const OLDEST = { mysql: [8, 0], mariadb: [10, 6] } as const

/** A database server program found on this machine. */
export interface DatabaseProgram {
  product: 'mysql' | 'mariadb'
  version: string
  path: string
}

/**
 * Finds the server to run: MySQL 8.0 or later, else MariaDB 10.6 or later.
 *
 * @param prefer the product that holds the data of earlier starts, if there were any
 */
export async function findProgram(prefer?: DatabaseProgram['product']): Promise<DatabaseProgram | null> {
  const found = (await Promise.all(['mysqld', 'mariadbd'].map(programsNamed))).flat()
  const usable = found.filter(isRecentEnough)
  return (
    usable.find(({ product }) => product === prefer) ??
    usable.find(({ product }) => product === 'mysql') ??
    usable[0] ??
    null
  )
}

async function programsNamed(name: string): Promise<DatabaseProgram[]> {
  const folders = new Set([...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS])
  const programs = await Promise.all([...folders].map((folder) => identify(join(folder, name))))
  return programs.filter((program) => program !== null)
}

/** Whether a file is there and may be run. */
export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function identify(path: string): Promise<DatabaseProgram | null> {
  if (!(await isExecutable(path))) return null
  try {
    const { stdout } = await run(path, ['--no-defaults', '--version'])
    const version = /Ver ([\d.]+)/.exec(stdout)?.[1]
    if (version === undefined) return null
    // On Debian, MariaDB's package installs a mysqld too.
    return { product: /mariadb/i.test(stdout) ? 'mariadb' : 'mysql', version, path }
  } catch {
    return null
  }
}

function isRecentEnough({ product, version }: DatabaseProgram): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST[product]
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

/**
 * Installs a server with the platform's package manager, saying so first. Only the program: no service is set up or
 * started, and no other server on the machine is touched.
 *
 * @throws {Error} with the command to run, if there is no way to install it from here
 */
export async function installProgram(say: (line: string) => void): Promise<void> {
  const needed = 'MySQL 8.0 or later, or MariaDB 10.6 or later, is needed, and neither is installed.'
  const steps = await installSteps(DEBIAN_PACKAGES, 'mariadb')
  if (steps === null) {
    throw new Error(
      `${needed} Install one and start again:\n` +
        `  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install --no-install-recommends ${DEBIAN_PACKAGES.join(' ')}\n` +
        '  macOS:           brew install mariadb\n' +
        '  Fedora, RHEL:    sudo dnf install mariadb-server\n' +
        '  Arch:            sudo pacman -S mariadb\n' +
        'or name a server that is running: MYSQL_URL=mysql://USER:PASSWORD@HOST:PORT',
    )
  }
  say(`${needed} Installing MariaDB:`)
  await runSteps(steps, say)
}
