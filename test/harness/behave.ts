import type { Behaviour } from '../../local/planetscale/fault-injection.ts'

/** Sends a request to what the endpoint has for tests, with the credentials of a database. */
export async function askEndpoint(databaseUrl: string, path: string, method: string, body?: unknown): Promise<unknown> {
  const { username, password, origin } = new URL(databaseUrl)
  const answer = await fetch(`${origin}/local/${path}`, {
    method,
    headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

/** Makes the endpoint slow or faulty for a database, or normal again. */
export async function behave(databaseUrl: string, behaviour: Partial<Behaviour>): Promise<void> {
  await askEndpoint(databaseUrl, 'behaviour', 'PUT', behaviour)
}
