// Runs a command that must not outlive whoever started it: when that process is gone, however it ended (kill -9 included),
// the command is stopped, and what it left behind in its process group is killed. `ServerProcess` puts the local servers on
// it, and `npm test` the test runner.
import { spawn } from 'node:child_process'
import process from 'node:process'

const WATCH_MS = 500

const [graceMs, command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error('usage: leash GRACE_MS COMMAND [ARGUMENT…]')

// A group of its own: Ctrl-C in the terminal is for the one who holds the leash, who stops things in order.
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
  process.exit(code ?? (signal === null ? 0 : 1))
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
    // Nothing is left of it.
  }
}

// With an IPC channel its end tells at once; without one (npm) the new parent does.
process.on('disconnect', stop)
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid !== parent) stop()
}, WATCH_MS)
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
process.on('SIGHUP', stop)
