import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

const ANSWER_MS = 10_000

/**
 * What a child process says next.
 *
 * @param name what it is called in messages
 * @throws {Error} if it says nothing, or ends
 */
export async function heard<Message>(child: ChildProcess, name: string): Promise<Message> {
  const gone = new AbortController()
  const leave = () => gone.abort(new Error(`${name} ended by itself; its last words are above.`))
  const timer = setTimeout(() => gone.abort(new Error(`${name} said nothing for ${ANSWER_MS} ms.`)), ANSWER_MS)
  child.once('exit', leave)
  try {
    const [message] = (await once(child, 'message', { signal: gone.signal })) as [Message]
    return message
  } catch (error) {
    child.kill('SIGKILL')
    throw gone.signal.aborted ? gone.signal.reason : error
  } finally {
    clearTimeout(timer)
    child.off('exit', leave)
  }
}

/** Ends a child process, whatever it is doing. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
