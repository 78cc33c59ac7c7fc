/** Without MYSQL_URL, as a newcomer starts it: on a private server. */
export const PRIVATE = { MYSQL_URL: '', API_TOKEN: '' }

const KEY = '/blog/hello'

/** The count of a page. */
export const count = async (url: string, key = KEY) => {
  const response = await fetch(`${url}/v1/counters/page_view/${encodeURIComponent(key)}`)
  return (await response.json()) as { count: number; total: number; pending: number }
}
/** Counts a view of that page, as a browser does. */
export const hit = (url: string, headers: Record<string, string> = {}, key = KEY) =>
  fetch(`${url}/hit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/145', ...headers },
    body: JSON.stringify({ type: 'page_view', key }),
  })
