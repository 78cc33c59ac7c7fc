import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

const TIMEOUT_MS = 10_000

/**
 * The next message of a child process.
 *
 * @param name of the process, for error messages
 * @throws {Error} if the process sends nothing for 10 s, or exits
 */
export async function nextMessage<Message>(child: ChildProcess, name: string): Promise<Message> {
  const failed = new AbortController()
  const onExit = () => failed.abort(new Error(`${name} exited unexpectedly. Its last output is above.`))
  const timer = setTimeout(
    () => failed.abort(new Error(`${name} did not respond within ${TIMEOUT_MS} ms.`)),
    TIMEOUT_MS,
  )
  child.once('exit', onExit)
  try {
    const [message] = (await once(child, 'message', { signal: failed.signal })) as [Message]
    return message
  } catch (error) {
    child.kill('SIGKILL')
    throw failed.signal.aborted ? failed.signal.reason : error
  } finally {
    clearTimeout(timer)
    child.off('exit', onExit)
  }
}

/** Kills a child process and waits until it has exited. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
