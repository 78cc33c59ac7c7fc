import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type DatabaseProgram, isExecutable } from './database-program.ts'

const run = promisify(execFile)

/** The name of data that may have no settings yet: an interrupted attempt must not pass for data. */
export const UNFINISHED = 'data.unfinished'

/** Creates the data of a new, empty database server. @returns its folder @throws {Error} if the server's own program fails */
export async function createData(program: DatabaseProgram, directory: string): Promise<string> {
  const unfinished = join(directory, UNFINISHED)
  await rm(unfinished, { recursive: true, force: true })
  const user = userInfo().username
  // mariadb-install-db splits paths at spaces.
  const links = await mkdtemp(join(tmpdir(), 'slotted-counter-'))
  const link = join(links, 'database')
  try {
    if (program.product === 'mysql') {
      const options = ['--no-defaults', '--initialize-insecure', `--datadir=${unfinished}`, ...asRoot()]
      await run(program.path, [...options, await temporaryFolder(directory)])
    } else {
      const install = await mariadbInstaller(program.path)
      await symlink(directory, link)
      const root = ['--auth-root-authentication-method=socket', `--auth-root-socket-user=${user}`, '--skip-test-db']
      const folders = [`--datadir=${join(link, UNFINISHED)}`, await temporaryFolder(link)]
      await run(install, ['--no-defaults', ...folders, ...root, `--user=${user}`])
    }
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as Error & { stderr?: string; stdout?: string }
    const said = stderr || stdout || message
    throw new Error(
      `${program.path} could not create a data directory in ${directory}:\n${lastLines(said)}` +
        `${isDiskFull(said) ? `\n${makeRoom(directory)}` : ''}`,
    )
  } finally {
    await rm(links, { recursive: true })
  }
  return unfinished
}

/**
 * The option for a private folder of temporary files. When a server starts, it deletes the temporary tables in this folder, so
 * servers must not share one.
 */
export async function temporaryFolder(directory: string): Promise<string> {
  const folder = join(directory, 'tmp')
  await mkdir(folder, { recursive: true })
  return `--tmpdir=${folder}`
}

async function mariadbInstaller(server: string): Promise<string> {
  const folders = [dirname(server), '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  for (const folder of folders) {
    const path = join(folder, 'mariadb-install-db')
    if (await isExecutable(path)) return path
  }
  throw new Error('mariadb-install-db was not found. It is part of the MariaDB server.')
}

/** The option with which root may run MySQL and MariaDB, which refuse it otherwise; none for other users. */
export function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}

/** Whether a server's log says that its disk is full: the operating system's error 28. */
export function isDiskFull(log: string): boolean {
  return /No space left on device|\berr(?:or|no|code):? 28\b/i.test(log)
}

/** What to do then. */
export function makeRoom(directory: string): string {
  return `The disk of ${directory} is full: free some space and start again.`
}

/** The last lines of a log. */
export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-10).join('\n')
}
