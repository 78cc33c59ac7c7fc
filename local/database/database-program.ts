import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installPackages } from '../processes/install-system-packages.ts'

const run = promisify(execFile)

/** Folders of server programs that are often missing from a user's PATH. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/usr/local/bin', '/opt/homebrew/bin']

/** The server, and the program that creates its data directory. The package `mariadb-server` would also start a service. */
const DEBIAN_PACKAGES = ['mariadb-server-core', 'mariadb-client-core']

export const NEEDED = 'MySQL 8.0 or later, or MariaDB 10.6 or later, is required'
const OLDEST = { mysql: [8, 0], mariadb: [10, 6] } as const

/** The program of a database server on this machine. */
export interface DatabaseProgram {
  product: 'mysql' | 'mariadb'
  version: string
  path: string
}

/**
 * Finds the program to run: MySQL 8.0 or later, else MariaDB 10.6 or later.
 *
 * @param prefer the product to which the existing data belongs
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

/** Whether a file exists and can be executed. */
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
    // On Debian, MariaDB's package also installs a mysqld.
    return { product: /mariadb/i.test(stdout) ? 'mariadb' : 'mysql', version, path }
  } catch {
    return null
  }
}

/** Whether a program, or a server, is a version that the counter was tested with. */
export function isRecentEnough({ product, version }: Omit<DatabaseProgram, 'path'>): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST[product]
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

/**
 * Installs MariaDB's server program with apt-get or Homebrew, and prints the commands. It sets up no service and touches no
 * other server on this machine.
 *
 * @throws {Error} if neither can be used here; the message lists the commands for other systems
 */
export async function installProgram(say: (line: string) => void): Promise<void> {
  const needed = `${NEEDED}, but neither is installed.`
  const packages = { debian: DEBIAN_PACKAGES, homebrew: ['mariadb'] }
  const failure = await installPackages(packages, `${needed} Installing MariaDB:`, say).then(
    (done) => (done ? null : needed),
    (error: Error) => error.message,
  )
  if (failure === null) return
  throw new Error(
    `${failure}\nInstall one of them and start again:\n` +
      `  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install --no-install-recommends ${DEBIAN_PACKAGES.join(' ')}\n` +
      '  macOS:           brew install mariadb\n' +
      '  Fedora, RHEL:    sudo dnf install mariadb-server\n' +
      '  Arch:            sudo pacman -S mariadb\n' +
      'or use a running server: MYSQL_URL=mysql://USER:PASSWORD@HOST:PORT',
  )
}
