import type { KeyedType } from '../src/counters/counter-address.ts'
import type { WorkerClient } from './worker-client.ts'

/** A counter type of a Worker. */
export type ConfiguredType = KeyedType & { name: string }

/** Reads the counter types that a Worker is configured with. */
export async function configuredTypes(worker: WorkerClient): Promise<ConfiguredType[]> {
  return (JSON.parse(await worker.get('/v1/status')) as { types: ConfiguredType[] }).types
}
