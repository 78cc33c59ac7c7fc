// The beacon: what a site includes with <script defer src="https://COUNTER/beacon.js"></script>. It counts a view when the
// page is seen, follows single-page navigation, counts clicks on links marked data-download, and fills in the numbers of
// elements marked data-counter. No cookies, no storage, nothing global but `slottedCounter`. It may not grow beyond 1,000
// bytes gzipped: that is why it is one file, and terse. `npm run beacon` makes the text of it that is served.

/** What pages call themselves: counts once, by default the page; settles when that was answered. */
type CountByHand = (key?: string, type?: string) => Promise<void>

declare const self: Window & { slottedCounter?: CountByHand }
declare const document: Document & { prerendering?: boolean }

/** Milliseconds after which a request that failed may have been counted: a round trip and a commit take longer. */
const REFUSED_MS = 20
/** Milliseconds that a single-page application has for putting the new page's canonical link in place. */
const SETTLE_MS = 100

// A page that has the tag twice counts once.
if (!self.slottedCounter) {
  const { src, dataset } = document.currentScript as HTMLScriptElement
  const { origin } = new URL(src)
  let { key: ownKey, type: ownType = 'page_view' } = dataset

  /** The key of the page. */
  let current: string
  /** Where the page is. */
  let path: string
  let query: string
  /** The canonical link of the page that was counted last. */
  let canonical: string | undefined
  /** Whether the page is still to be counted. */
  let due: number
  /** Whether the page's policy refuses hits, which is told before they fail. */
  let refused: boolean

  const url = (name: string, parameters: Record<string, string> | string[][]) =>
    `${origin}/${name}?${new URLSearchParams(parameters)}`

  const count: CountByHand = async (key = current, type = ownType) => {
    // Files have no host name.
    if ('local' in dataset || !/^(localhost|127[\d.]+|.::1.|)$/.test(location.hostname)) {
      const hit = { type, key }
      const began = Date.now()
      try {
        // With CORS: without it, a strict Referrer-Policy makes Origin "null", which allowed_origins refuses. All answers let
        // the sender read them, ignored hits and failures included, so the console is silent; unless the site may not count
        // here at all, and then its owner should be told. Cookies do not go to other origins unless they are asked to.
        //
        // Beacons are for browsers whose fetch ends with the page. They are no help where fetch is refused: the same policies
        // and blockers refuse them, and sendBeacon says that all is well.
        await ('keepalive' in Request.prototype
          ? fetch(url('hit', hit), { method: 'POST', keepalive: true })
          : navigator.sendBeacon(url('hit', hit)))
      } catch {
        // A policy tells that it refuses (below); a blocker is known by how soon it does. What failed later may have been
        // counted and is never sent again: a view too few is better than one that nobody made.
        if (refused || Date.now() - began < REFUSED_MS) new Image().src = url('hit.gif', hit)
      }
    }
    // The numbers, with one request for each type.
    const byType: Record<string, HTMLElement[]> = {}
    for (const element of document.querySelectorAll<HTMLElement>('[data-counter]'))
      byType[element.dataset.type || ownType] = [...(byType[element.dataset.type || ownType] || []), element]
    for (const type in byType)
      fetch(
        url(
          `v1/counters/${type}`,
          byType[type]!.map((element) => ['key', element.dataset.counter || current]),
        ),
      )
        .then((answer) => answer.json())
        .then((answer: { counters: { count: number }[] }) => {
          for (const element of byType[type]!) element.textContent = answer.counters.shift()!.count.toLocaleString()
        })
        // What the page says in their place stays.
        .catch(() => {})
  }

  /** Counts the page, once it is there and seen. */
  const look = () => {
    // "interactive" or "complete", not "loading": the canonical link may stand behind the tag.
    // What was prerendered is seen a moment before it is activated, but until then requests say that they are for nobody.
    if (document.readyState < 'l' && due && !document.hidden && !document.prerendering) {
      due = 0
      const found = document.querySelector<HTMLLinkElement>('[rel=canonical]')?.href
      // A link that did not change with the page is that of another one. It is not parsed by URL, which throws.
      current = ownKey || (found !== canonical && /\w(\/[^?#]*)/.exec(found!)?.[1]) || path
      canonical = found
      ownKey = ''
      count()
    }
  }

  const navigated = (replaced?: boolean) => {
    const { pathname, search } = location
    // Another fragment is the same page, and applications replace the query when they keep their state there.
    if (pathname !== path || (!replaced && search !== query)) {
      // The page before, if the application is faster than the timer. If nobody has seen it, it does not count.
      look()
      current = path = pathname
      due = setTimeout(look, SETTLE_MS)
    }
    query = search
  }

  const clicked = (event: MouseEvent) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-download]')
    // The right button opens a menu. /d/ counts by itself.
    if (link && event.button < 2 && !link.href.startsWith(`${origin}/d/`))
      count(link.dataset.download || link.pathname, link.dataset.type || 'download')
  }

  for (const name of ['replaceState', 'pushState'] as const) {
    const original = history[name]
    history[name] = (...change) => {
      original.apply(history, change)
      navigated(name > 'q')
    }
  }

  // The order is that which compresses best.
  const listeners = {
    click: clicked,
    auxclick: clicked,
    prerenderingchange: look,
    visibilitychange: look,
    pagehide: look,
    DOMContentLoaded: look,
    pageshow: (event: PageTransitionEvent) => event.persisted && count(),
    popstate: () => navigated(),
    securitypolicyviolation: (event: SecurityPolicyViolationEvent) => {
      // "enforce", not "report".
      refused ||= event.disposition < 'f' && event.blockedURI.startsWith(`${origin}/hit`)
    },
  }
  // While capturing, because pages stop clicks.
  for (const name in listeners) addEventListener(name, listeners[name as 'click'] as EventListener, true)
  self.slottedCounter = count
  navigated()
  look()
}

export {}
