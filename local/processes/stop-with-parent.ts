// Runs a command that ends when its parent process ends, kill -9 included. It stops the command and then kills the
// rest of the command's process group. `ServerProcess` runs the local servers this way, and `npm test` the test runner.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import process from 'node:process'

const WATCH_MS = 500

const [graceMs, command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error('usage: stop-with-parent GRACE_MS COMMAND [ARGUMENT…]')

// In its own process group: Ctrl-C in the terminal must reach the parent only, which stops everything in order.
const child = spawn(command, args, { detached: true, stdio: 'inherit' })

child.on('error', (error) => {
  console.error(error.message)
  process.send?.({ error: error.message })
  process.exitCode = 127
  process.disconnect?.()
  clearInterval(watch)
})
child.on('spawn', () => process.send?.({ pid: child.pid }))
child.on('exit', (code, signal) => {
  killGroup()
  // If a signal ended the command, the code that a shell would give.
  process.exit(code ?? 128 + constants.signals[signal!])
})

let stopping = false
function stop(): void {
  if (stopping) return
  stopping = true
  child.kill('SIGTERM')
  setTimeout(killGroup, Number(graceMs))
}

function killGroup(): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}

// If there is an IPC channel, it closes as soon as the parent ends. Without one (npm), the parent's process id changes.
process.on('disconnect', stop)
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid !== parent) stop()
}, WATCH_MS)
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
process.on('SIGHUP', stop)
