import { fetchText, MAX_WAIT, PassingError, RefusedError } from '../retried.ts'

/**
 * Reads the downloads of a package on a day (UTC). Source: https://github.com/npm/registry/blob/main/docs/download-counts.md
 *
 * @param api the address of npm's API, without a slash at the end
 * @returns 0 also if npm has not counted that day yet
 * @throws {RefusedError} npm knows no such package
 * @throws {PassingError} npm failed, or asks to wait
 */
export async function readDownloads(name: string, day: string, { api, signal }: { api: string; signal: AbortSignal }) {
  const { response, text } = await fetchText(`${api}/downloads/point/${day}:${day}/${name}`, {}, signal)
  const problem = `npm answered ${response.status}: ${text.slice(0, 200)}`
  if (response.status === 429 || response.status >= 500) {
    throw new PassingError(problem, Math.min(Number(response.headers.get('Retry-After')) || 0, MAX_WAIT))
  }
  if (!response.ok) throw new RefusedError(problem)
  try {
    const { downloads, start, end } = JSON.parse(text)
    if (Number.isSafeInteger(downloads) && downloads >= 0 && start === day && end === day) return downloads as number
  } catch {}
  throw new PassingError(`npm did not answer the downloads of ${day}: ${text.slice(0, 200)}`)
}
