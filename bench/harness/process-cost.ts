import { readFile, writeFile } from 'node:fs/promises'

/** Linux counts CPU time in these, on every architecture there is. */
const TICK_MICROS = 10_000

/** CPU time of a process so far, in microseconds; `null` where the system does not tell. */
export async function cpuMicros(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  // proc(5): pid (name) state …, of which the 12th and 13th from the state on are user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
}

/**
 * Watches the memory of a process.
 *
 * @returns asks by how many MiB it has grown at most since then; `null` where the system does not tell
 */
export async function watchMemory(pid: number): Promise<() => Promise<number | null>> {
  // 5 sets the peak back to what is used now.
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
