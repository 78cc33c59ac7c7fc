import type { KeyedType } from '../src/counters/keys/counter-address.ts'
import type { WorkerClient } from './worker-client.ts'

/** Reads the counter types that a Worker is configured with. */
export async function configuredTypes(worker: WorkerClient): Promise<(KeyedType & { name: string })[]> {
  return (JSON.parse(await worker.get('/v1/status')) as { types: (KeyedType & { name: string })[] }).types
}
