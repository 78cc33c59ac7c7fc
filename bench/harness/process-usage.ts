import { readFile, writeFile } from 'node:fs/promises'

/** The unit in which Linux counts CPU time, on every architecture. */
const TICK_MICROS = 10_000

/** CPU time of a process so far, in microseconds; `null` where there is no /proc. */
export async function cpuMicros(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // proc(5): pid (name) state …, of which the 12th and 13th from the state on are user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
}

/** The ids of the children of a process; none where there is no /proc. */
export async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** The memory of processes in MiB: what they share is divided among them. `null` where there is no /proc. */
export async function memoryMiB(pids: readonly number[]): Promise<number | null> {
  let kibibytes = 0
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    const pss = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]
    if (pss === undefined) return null
    kibibytes += Number(pss)
  }
  return kibibytes / 1024
}

/**
 * Starts watching the memory of a process.
 *
 * @returns a function that returns the peak growth since then in MiB, or `null` where there is no /proc
 */
export async function watchMemory(pid: number): Promise<() => Promise<number | null>> {
  // proc(5): writing 5 resets the peak to the current usage.
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})
  const before = await memoryOf(pid, 'VmRSS')
  return async () => {
    const peak = await memoryOf(pid, 'VmHWM')
    return before === null || peak === null ? null : (peak - before) / 1024
  }
}

async function memoryOf(pid: number, field: string): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]
  return kibibytes === undefined ? null : Number(kibibytes)
}
