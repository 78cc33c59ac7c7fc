import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { installPackages, isInstalled } from '../../local/packages.ts'

/** Seconds that a request may wait in a queue before it counts as an error. */
const TIMEOUT_SECONDS = 30

/** What to send. */
export interface Load {
  method: 'GET' | 'POST'
  url: string
  connections: number
  /** Distinct keys in the bodies; 0 sends no body. */
  keys: number
  /** Keys in turn, or uniformly at random. */
  order: 'turn' | 'random'
  seed: number
  /** Seconds until everything is connected and queues have their length; they do not count as time. */
  rampSeconds: number
  /** Seconds after that. */
  seconds: number
}

/** What came of it. */
export interface LoadResult {
  /** Requests that were answered; what was under way at the end is cut off and not among them. */
  answered: number
  /** Answers per second, without the ramp. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  errors: Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>
}

/**
 * Sees to it that wrk, the load generator, is there.
 *
 * @throws {Error} with the command that installs it
 */
export async function installWrk(say: (line: string) => void): Promise<void> {
  if (!(await isInstalled('wrk'))) {
    const packages = { debian: ['wrk'], homebrew: ['wrk'] }
    await installPackages(packages, 'The load generator wrk is needed and is not installed. Installing it:', say)
  }
  await wrkVersion()
}

/**
 * The version of wrk.
 *
 * @throws {Error} with the command that installs it
 */
export function wrkVersion(): Promise<string> {
  return new Promise((resolve, reject) => {
    // It tells its version together with its usage, and with exit code 1.
    execFile('wrk', ['-v'], (error, stdout) => {
      const version = /^wrk (\S+)/.exec(stdout)?.[1]
      if (version !== undefined) return resolve(version)
      const reason = error !== null && error.code === 'ENOENT' ? 'is not installed' : 'does not run'
      reject(
        new Error(
          `The load generator wrk ${reason}. Install it and try again:\n` +
            '  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install wrk\n' +
            '  macOS:           brew install wrk',
        ),
      )
    })
  })
}

/**
 * Sends load for a while: every connection its next request as soon as the last one was answered.
 *
 * @param signal ends it early
 * @throws {Error} if it was ended early or did not run
 */
export async function runWrk(load: Load, signal: AbortSignal): Promise<LoadResult> {
  signal.throwIfAborted()
  const { method, url, connections, keys, order, seed, rampSeconds, seconds } = load
  // Without a leash, which takes as long to start as wrk itself: it ends with the bench's process group, or when its time is over.
  const wrk = spawn(
    'wrk',
    [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${rampSeconds + seconds}s`,
      `--timeout=${TIMEOUT_SECONDS}s`,
      `--script=${join(import.meta.dirname, 'load.lua')}`,
      url,
      '--',
      method,
      String(keys),
      order,
      String(seed),
      String(rampSeconds),
      String(connections),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [wrk.stdout, wrk.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const stop = () => void wrk.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  try {
    await once(wrk, 'close')
  } finally {
    signal.removeEventListener('abort', stop)
  }
  signal.throwIfAborted()
  const result = /^RESULT (.*)$/m.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk gave no result:\n${output}`)
  return JSON.parse(result) as LoadResult
}
