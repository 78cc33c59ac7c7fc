import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A process of this machine. */
export interface ProcessEntry {
  pid: number
  /** Its process group. */
  group: number
  /** Its command line, arguments separated by spaces. */
  args: string
}

/** All processes that are running, without those that have ended and only wait to be noticed. */
export async function processTable(): Promise<ProcessEntry[]> {
  // Read directly where that is possible: small systems do not have ps.
  const ids = await readdir('/proc').catch(() => null)
  if (ids === null) return fromPs()
  const entries = await Promise.all(ids.filter((id) => /^\d+$/.test(id)).map(fromProc))
  return entries.filter((entry) => entry !== null)
}

async function fromProc(id: string): Promise<ProcessEntry | null> {
  try {
    const [stat, args] = await Promise.all([
      readFile(`/proc/${id}/stat`, 'utf8'),
      readFile(`/proc/${id}/cmdline`, 'utf8'),
    ])
    // proc(5): pid (name) state ppid pgrp …; the name may hold anything, parentheses included.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? null : { pid: Number(id), group: Number(group), args: args.replaceAll('\0', ' ').trim() }
  } catch {
    // It has ended meanwhile.
    return null
  }
}

async function fromPs(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,pgid=,stat=,args='], { maxBuffer: 64 * 1024 * 1024 })
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state, ...args] = line.trim().split(/\s+/)
    return !pid || state?.startsWith('Z') ? [] : [{ pid: Number(pid), group: Number(group), args: args.join(' ') }]
  })
}
