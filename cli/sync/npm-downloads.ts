import { fetchText, MAX_WAIT, PassingError, RefusedError } from '../retried.ts'

/**
 * Reads the downloads of a package by day (UTC). Source: https://github.com/npm/registry/blob/main/docs/download-counts.md
 *
 * @param days the first and the last one
 * @param api the address of npm's API, without a slash at the end
 * @returns the days that npm has counted and that have downloads: for others it answers 0
 * @throws {RefusedError} npm knows no such package
 * @throws {PassingError} npm failed, or asks to wait
 */
export async function readDownloads(
  name: string,
  [first, last]: readonly [string, string],
  { api, signal }: { api: string; signal: AbortSignal },
): Promise<{ day: string; downloads: number }[]> {
  const { response, text } = await fetchText(`${api}/downloads/range/${first}:${last}/${name}`, {}, signal)
  const problem = `npm answered ${response.status}: ${text.slice(0, 200)}`
  if (response.status === 429 || response.status >= 500) {
    throw new PassingError(problem, Math.min(Number(response.headers.get('Retry-After')) || 0, MAX_WAIT))
  }
  if (!response.ok) throw new RefusedError(problem)
  try {
    const { downloads: days } = JSON.parse(text) as { downloads: { day: string; downloads: number }[] }
    const isDay = ({ day, downloads }: (typeof days)[number]) =>
      day >= first && day <= last && Number.isSafeInteger(downloads) && downloads >= 0
    if (days.every(isDay)) return days.filter(({ downloads }) => downloads > 0)
  } catch {}
  throw new PassingError(`npm’s answer does not list downloads by day: ${text.slice(0, 200)}`)
}
