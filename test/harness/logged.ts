import { vi } from 'vitest'

/** Collects what the Worker logs while something runs: one object per line. */
export async function logged(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  const spies = (['info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line)),
  )
  try {
    await work()
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}
