import { fetchText, MAX_WAIT, PassingError, RefusedError } from '../retried.ts'

/** The most releases that GitHub lists, a hundred a page. */
const MAX_PAGES = 100

/** Which repository to read, and how. */
export interface GitHubRequest {
  /** `OWNER/REPO`. */
  repository: string
  /** The address of GitHub's API, without a slash at the end. */
  api: string
  token: string | undefined
  signal: AbortSignal
}

/**
 * Reads a page of a repository's releases, the newest first. Drafts and files that are being uploaded are left out.
 * Source: https://docs.github.com/en/rest/releases/releases#list-releases
 *
 * @param page from 1 on
 * @returns `files`: `TAG/FILE`, the end of its address on GitHub, and its downloads; `isLast`: whether there are no more, or none that GitHub lists
 * @throws {RefusedError} there is no such repository, the token is wrong, or the wait for the rate limit is too long
 * @throws {PassingError} GitHub failed, or asks to wait
 */
export async function readReleases({ repository, api, token, signal }: GitHubRequest, page: number) {
  const headers = {
    Accept: 'application/vnd.github+json',
    'X-GitHub-Api-Version': '2022-11-28',
    ...(token && { Authorization: `Bearer ${token}` }),
  }
  const url = `${api}/repos/${repository}/releases?per_page=100&page=${page}`
  const { response, text } = await fetchText(url, { headers }, signal)
  if (!response.ok) throw failureOf(response, text, { repository, token })
  const releases = releasesIn(text).filter(({ draft }) => !draft)
  return {
    releases: releases.length,
    files: releases.flatMap(({ tag_name, assets }) =>
      assets
        .filter(({ state }) => state === 'uploaded')
        .map(({ name, download_count }) => ({ key: `${tag_name}/${name}`, count: countOf(name, download_count) })),
    ),
    isLast: page === MAX_PAGES || !/rel="next"/.test(response.headers.get('Link') ?? ''),
  }
}

type Release = { tag_name: string; draft: boolean; assets: { name: string; state: string; download_count: number }[] }

/** @throws {PassingError} if the text is no list of releases, such as the page of a proxy, or cut off */
function releasesIn(text: string): Release[] {
  try {
    const releases: Release[] = JSON.parse(text)
    const isRelease = ({ tag_name, assets }: Release) => typeof tag_name === 'string' && Array.isArray(assets)
    if (releases.every(isRelease)) return releases
  } catch {}
  throw new PassingError('the answer of GitHub is not a list of releases')
}

function countOf(name: string, downloads: number): number {
  if (Number.isSafeInteger(downloads) && downloads >= 0) return downloads
  throw new RefusedError(`GitHub reports ${downloads} downloads of ${JSON.stringify(name)}, which is not a count`)
}

/** Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
function failureOf(
  { status, headers }: Response,
  text: string,
  { repository, token }: Pick<GitHubRequest, 'repository' | 'token'>,
): Error {
  const [, message = text.slice(0, 200)] = /"message"\s*:\s*"([^"]*?)\.?"/.exec(text) ?? []
  const problem = `GitHub answered ${status}: ${message}`
  if (status === 404) {
    const why = token ? 'the token may not read it' : 'it is private, which needs GITHUB_TOKEN'
    return new RefusedError(`${problem}. There is no repository ${repository}, or ${why}`)
  }
  if (status >= 500) return new PassingError(problem)
  const isOverLimit = headers.get('X-RateLimit-Remaining') === '0'
  const isLimited = isOverLimit || headers.has('Retry-After') || status === 429 || /rate limit/i.test(message)
  if ((status !== 403 && status !== 429) || !isLimited) return new RefusedError(problem)
  // By GitHub's clock.
  const now = Date.parse(headers.get('Date') ?? '') || Date.now()
  const untilReset = Number(headers.get('X-RateLimit-Reset')) - Math.floor(now / 1_000)
  const seconds = Number(headers.get('Retry-After')) || (isOverLimit ? Math.max(1, untilReset) : 60)
  if (seconds <= MAX_WAIT) return new PassingError(problem, seconds)
  const until = new Date(now + seconds * 1_000).toISOString().slice(11, 16)
  return new RefusedError(
    `${problem}. Run this again after ${until} UTC${token ? '' : ', or set GITHUB_TOKEN for a higher limit'}`,
  )
}
