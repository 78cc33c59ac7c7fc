import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type ProcessOptions, ServerProcess } from '../../local/processes/server-process.ts'

const START_MS = 10_000
const STOP_MS = 5_000
const POLL_MS = 10

interface LaunchOptions extends Pick<ProcessOptions, 'name' | 'command' | 'args' | 'marker' | 'env'> {
  /** Folder for its output, `NAME.log`. */
  directory: string
  /** May also reject while the server is not ready. */
  isReady(): Promise<boolean>
}

/** Starts a server, and waits until it is ready. @throws {Error} if it is not within 10 s. It is stopped then. */
export async function launchServer({ directory, isReady, ...options }: LaunchOptions): Promise<ServerProcess> {
  const log = await open(join(directory, `${options.name}.log`), 'a')
  const server = await ServerProcess.start({
    ...options,
    records: directory,
    output: log.fd,
    graceMs: STOP_MS,
  }).finally(() => log.close())
  for (const began = Date.now(); !(await isReady().catch(() => false)); await setTimeout(POLL_MS)) {
    if (Date.now() - began < START_MS && !server.hasEnded) continue
    await server.stop()
    throw new Error(`${options.name} did not start within ${START_MS} ms.`)
  }
  return server
}
