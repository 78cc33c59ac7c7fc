import type { ServerProcess } from '../processes/server-process.ts'

const START_MS = 90_000

/** Waits until a Worker answers at `url`. @throws {Error} if it does not, or with wrong settings */
export async function workerHealth(url: string, worker: ServerProcess): Promise<void> {
  const began = Date.now()
  for (;;) {
    const health = await readHealth(`${url}/healthz`)
    // A counter that is mounted below a path leaves this one to its application. The crons begin after the start.
    if (health !== null && (health.status < 500 || /"rollup_/.test(health.body))) return
    if (health !== null) refuseWrongSettings(health.body)
    if (worker.hasEnded || Date.now() - began > START_MS)
      throw new Error(`The Worker did not start at ${url} (${health?.body ?? 'no answer'}). See the log above.`)
    await new Promise((done) => setTimeout(done, 500))
  }
}

/** @param body an answer of /healthz @throws {Error} with the errors, if the settings have some */
export function refuseWrongSettings(body: string): void {
  if (!body.includes('configuration_invalid')) return
  const { errors } = JSON.parse(body) as { errors: { field: string; message: string }[] }
  throw new Error(['The configuration has errors:', ...errors.map((one) => `  ${one.field} ${one.message}`)].join('\n'))
}

async function readHealth(url: string): Promise<{ status: number; body: string } | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
    return { status: response.status, body: await response.text() }
  } catch {
    return null
  }
}
