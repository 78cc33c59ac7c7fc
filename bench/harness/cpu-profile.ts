import type { Inspector } from './inspector.ts'

/** Microseconds between two samples. */
export const SAMPLE_MICROS = 200

/** The part of V8's CPU profile that is used here. Lines and columns count from 0, times are in microseconds. */
export interface CpuProfile {
  nodes: {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number }
  }[]
  samples: number[]
  timeDeltas: number[]
}

/** Profiles the isolate while something runs. */
export async function cpuProfile(inspector: Inspector, work: () => Promise<unknown>): Promise<CpuProfile> {
  await inspector.call('Profiler.enable')
  await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS })
  await inspector.call('Profiler.start')
  await work()
  const { profile } = (await inspector.call('Profiler.stop')) as { profile: CpuProfile }
  return profile
}
