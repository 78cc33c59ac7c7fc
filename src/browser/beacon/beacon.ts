// The beacon: the script that a site includes with <script defer src="https://COUNTER/beacon.js"></script>.
//
// - It counts a view when the page becomes visible, and follows navigation in single-page applications.
// - It counts clicks on links with data-download.
// - It writes counts into elements with data-counter.
//
// It uses no cookies and no storage, and its only global is `slottedCounter`. Gzipped, it must not exceed 1,000 bytes, so it is
// one terse file. `npm run assets` makes the text that is served.

/** The function for pages to call. It counts one, by default for the page, and resolves after the response. */
type CountByHand = (key?: string, type?: string) => Promise<void>

declare const self: Window & { slottedCounter?: CountByHand }
declare const document: Document & { prerendering?: boolean }

/** A request that fails sooner was not counted: a round trip and a commit take longer. In milliseconds. */
const REFUSED_MS = 20
/** The time for a single-page application to update the canonical link, in milliseconds. */
const SETTLE_MS = 100

// If a page has the tag twice, it counts once.
if (!self.slottedCounter) {
  let {
    src,
    dataset,
    dataset: { key: ownKey, type: ownType = 'page_view' },
  } = document.currentScript as HTMLScriptElement
  // What is before /beacon.js or /beacon/VERSION.js, such as https://example.com/counter. Of a name without /be, the origin.
  const [base] = src.split(/\b\/(?!.*\/be)/)

  /** The key of the page. */
  let current: string
  /** The path and query of the page. */
  let path: string
  let query: string
  /** The canonical link of the last page counted. */
  let canonical: string | undefined
  /** Not 0 if the page has yet to be counted. */
  let due: number
  /** Whether the page's policy blocks hits. The browser reports this before they fail. */
  let refused: boolean

  const url = (name: string, parameters: Record<string, string> | string[][]) =>
    `${base}/${name}?${new URLSearchParams(parameters)}`

  const count: CountByHand = async (key = current, type = ownType) => {
    // For files, the host name is empty.
    if ('local' in dataset || !/^(localhost|127[\d.]+|.::1.|)$/.test(location.hostname)) {
      const hit = { type, key }
      const began = Date.now()
      try {
        // CORS is needed: without it, a strict Referrer-Policy sets Origin to "null", which allowed_origins refuses. The sender
        // may read all responses, even those to ignored hits and failures, so the console stays silent. The exception is a site
        // that may not count here at all: its owner should see an error. By default, fetch sends no cookies to other origins.
        //
        // sendBeacon is for browsers in which fetch ends with the page. It does not help where fetch is blocked: the same policies
        // and blockers block it, and sendBeacon still returns true.
        'keepalive' in Request.prototype
          ? await fetch(url('hit', hit), { method: 'POST', keepalive: true })
          : navigator.sendBeacon(url('hit', hit))
      } catch {
        // A policy violation is reported (see below); a blocker is recognized by its speed. A request that failed later may have
        // been counted, so it is not repeated: a missing view is better than an invented one.
        if (refused || Date.now() - began < REFUSED_MS) new Image().src = url('hit.gif', hit)
      }
    }
    // The counts on the page, with one request per type.
    const byType: Record<string, HTMLElement[]> = {}
    for (const element of document.querySelectorAll<HTMLElement>('[data-counter]')) {
      // biome-ignore lint/suspicious/noAssignInExpressions: the shortest way
      ;(byType[element.dataset.type || ownType] ||= []).push(element)
    }
    for (const type in byType)
      fetch(
        url(
          `v1/counters/${type}`,
          byType[type]!.map((element) => ['key', element.dataset.counter || current]),
        ),
      )
        .then((answer) => answer.json())
        .then((answer: { counters: { count: number }[] }) =>
          byType[type]!.map((element) => (element.textContent = answer.counters.shift()!.count.toLocaleString())),
        )
        // The page keeps its placeholders.
        .catch(() => {})
  }

  /** Counts the page if it is loaded and visible. */
  const look = () => {
    // "interactive" or "complete", not "loading": the canonical link may come after the tag.
    // A prerendered page is visible shortly before its activation, but until then its requests are marked as prerendering.
    if (document.readyState < 'l' && due && !document.hidden && !document.prerendering) {
      due = 0
      const found = document.querySelector<HTMLLinkElement>('[rel=canonical]')?.href
      // A link that did not change with the page belongs to the previous page. URL is not used, because it throws.
      current = ownKey || (found !== canonical && /\w(\/[^?#]*)/.exec(found!)?.[1]) || path
      canonical = found
      ownKey = ''
      count()
    }
  }

  const navigated = (replaced?: boolean) => {
    const { search, pathname } = location
    // A new fragment is the same page. Applications that keep state in the query replace it.
    if (pathname !== path || (!replaced && search !== query)) {
      // Count the previous page if the application is faster than the timer. A page that was never visible does not count.
      look()
      current = path = pathname
      due = setTimeout(look, SETTLE_MS)
    }
    query = search
  }

  const clicked = (event: MouseEvent) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-download]')
    // The right button opens a menu. /d/ counts downloads itself.
    if (link && event.button < 2 && !link.href.startsWith(`${base}/d/`))
      count(link.dataset.download || link.pathname, link.dataset.type || 'download')
  }

  for (const name of ['replaceState', 'pushState'] as const) {
    const original = history[name]
    history[name] = (...change) => {
      original.apply(history, change)
      navigated(name > 'q')
    }
  }

  // This order compresses best.
  const listeners = {
    // "enforce", not "report".
    securitypolicyviolation: (event: SecurityPolicyViolationEvent) =>
      (refused ||= event.disposition < 'f' && event.blockedURI.startsWith(`${base}/hit`)),
    auxclick: clicked,
    prerenderingchange: look,
    click: clicked,
    popstate: () => navigated(),
    visibilitychange: look,
    pagehide: look,
    DOMContentLoaded: look,
    pageshow: (event: PageTransitionEvent) => event.persisted && count(),
  }
  // In the capture phase, because pages may stop the propagation of clicks.
  for (const name in listeners) addEventListener(name, listeners[name as 'click'] as EventListener, true)
  self.slottedCounter = count
  navigated()
  look()
}

export {}
