import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readJsonFile, writePrivately } from './processes/private-file.ts'

const SQLITE_BUSY = 5
/** Milliseconds to wait for the lock: another process may be about to release it, or may not have written its record yet. */
const WAIT_MS = 500

/**
 * Locks a state directory for this process: SQLite's lock on an empty database, which the kernel releases when the process ends,
 * kill -9 included. Unlike a file with a process id, it is never stale.
 *
 * @param url where this process answers: for the message of a second start, as is `command`
 * @returns releases the lock @throws {Error} if another start uses the directory, with how to run a second one
 */
export async function lockStateDirectory(directory: string, url: string, command: string): Promise<() => void> {
  // An existing folder stays as open as it is: what must be private in it is closed by itself.
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const owner = join(directory, 'owner.json')
  const lock = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: WAIT_MS })
  try {
    lock.exec('BEGIN IMMEDIATE')
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new Error(await alreadyRunning(owner, command))
  }
  await writePrivately(owner, JSON.stringify({ pid: process.pid, url }))
  return () => lock.close()
}

async function alreadyRunning(owner: string, command: string): Promise<string> {
  const record = await readJsonFile<{ pid: number; url: string }>(owner)
  const which = record === null ? '' : `, as process ${record.pid}, at ${record.url}`
  return (
    `It is running already${which}.\nStop it with Ctrl-C in its terminal${record ? `, or with: kill ${record.pid}` : ''}\n` +
    `To run a second one, give it its own port and state directory: PORT=8797 STATE_DIR=.local-2 ${command}`
  )
}
