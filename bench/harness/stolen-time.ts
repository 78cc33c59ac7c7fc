import { readFile } from 'node:fs/promises'

/**
 * Starts watching how much processor time this virtual machine does not get although it could use it.
 *
 * @returns a function that returns the share since then in percent of all processors, or `null` where there is no /proc
 */
export async function watchStolenTime(): Promise<() => Promise<number | null>> {
  const before = await times()
  return async () => {
    const after = await times()
    if (before === null || after === null) return null
    const total = after.total - before.total
    return total === 0 ? 0 : Math.round(((after.stolen - before.stolen) / total) * 1_000) / 10
  }
}

async function times(): Promise<{ total: number; stolen: number } | null> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => null)
  if (text === null) return null
  // proc(5): cpu user nice system idle iowait irq softirq steal. What follows is part of user and nice.
  const numbers = text.split('\n', 1)[0]!.trim().split(/\s+/).slice(1, 9).map(Number)
  return { total: numbers.reduce((sum, number) => sum + number, 0), stolen: numbers[7] ?? 0 }
}
