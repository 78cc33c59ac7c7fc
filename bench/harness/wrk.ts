import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { installPackages, isInstalled } from '../../local/processes/install-system-packages.ts'

/** Seconds after which a request counts as an error. */
const TIMEOUT_SECONDS = 30

/** What to send. */
export interface Load {
  method: 'GET' | 'POST'
  url: string
  /** Beside those of wrk-load.lua. */
  headers?: Record<string, string>
  connections: number
  /** Number of distinct keys in the bodies; 0 sends no body. */
  keys: number
  /** Whether keys are sent in turn or uniformly at random. */
  order: 'turn' | 'random'
  seed: number
  /** Seconds until all are connected and queues reach their steady length. They do not count as time. */
  rampSeconds: number
  /** Seconds to measure after the ramp. */
  seconds: number
}

/** The result of a load. */
export interface LoadResult {
  /** Number of responses. Requests in flight at the end are cut off and not included. */
  answered: number
  /** Responses per second, without the ramp. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  errors: Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>
}

/**
 * Installs wrk, the load generator, if it is missing.
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
    // wrk prints its version with its usage and exits with code 1.
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
 * Sends load. Every connection sends its next request as soon as it has the last response.
 *
 * @param signal ends the load early
 * @throws {Error} if the load was ended early, or wrk did not run
 */
export async function runWrk(load: Load, signal: AbortSignal): Promise<LoadResult> {
  signal.throwIfAborted()
  const { method, url, headers = {}, connections, keys, order, seed, rampSeconds, seconds } = load
  // Without a leash, which takes as long to start as wrk itself. wrk ends with the benchmark's process group, or when its time is
  // over.
  const wrk = spawn(
    'wrk',
    [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${rampSeconds + seconds}s`,
      `--timeout=${TIMEOUT_SECONDS}s`,
      ...Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`),
      `--script=${join(import.meta.dirname, 'wrk-load.lua')}`,
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
  if (result === undefined) throw new Error(`wrk printed no result:\n${output}`)
  return JSON.parse(result) as LoadResult
}
