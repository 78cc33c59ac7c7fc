/** Without MYSQL_URL, as a newcomer starts it: on a private server. */
export const PRIVATE = { MYSQL_URL: '', API_TOKEN: '' }

/** The count of a page. */
export const count = async (url: string) => {
  const response = await fetch(`${url}/v1/counters/page_view/%2Fblog%2Fhello`)
  return (await response.json()) as { count: number; total: number; pending: number }
}
/** Counts a view of that page, as a browser does. */
export const hit = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/hit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/145', ...headers },
    body: '{"type":"page_view","key":"/blog/hello"}',
  })
