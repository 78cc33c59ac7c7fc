// Any edit except to comments changes the minified bytes (esbuild picks short names by letter frequency) and needs a new release.
// biome-ignore-all lint/style/useConst: esbuild writes let anyway
// biome-ignore-all lint/style/useTemplate: longer
// biome-ignore-all lint/suspicious/noAssignInExpressions: shorter than statements

// The beacon: the script that a site includes with <script defer src="https://COUNTER/beacon.js"></script>.
//
// - It counts a view when the page becomes visible, and follows navigation in single-page applications.
// - It counts clicks on links with data-download.
// - It writes counts into elements with data-counter and data-total.
//
// It uses no cookies and no storage; its only global is `slottedCounter`. It must not exceed 1,000 bytes gzipped, so it is
// one terse file, in the order that compresses best. `npm run release-beacon` makes the text that is served.

/** For pages to call. Counts one, by default for the page, and resolves after the response. */
type CountByHand = (key?: string, type?: string) => Promise<void>
type Parameters = Record<string, string> | string[][]
/** An event, or the name of a method of `history`. */
type Noticed = MouseEvent & SecurityPolicyViolationEvent & PageTransitionEvent & string

declare const self: Window & { slottedCounter?: CountByHand }
declare const document: Document & { prerendering?: boolean }
// biome-ignore lint/suspicious/noExplicitAny: its methods are called by names from a list
declare const history: Record<string, any>

/** A request that fails sooner was not counted: a round trip and a commit take longer. */
const REFUSED_MS = 20
/** The time for an application to update the canonical link, and for the browser to report why a request failed. */
const SETTLE_MS = 99

// If a page has the tag twice, it counts once.
if (!self.slottedCounter) {
  // A module has no currentScript. The error on the console then names the first property here.
  let {
      'no type=module': due,
      src,
      dataset: { type: ownType = 'page_view', key: ownKey, local, prefix = '' },
    } = document.currentScript as HTMLScriptElement & { 'no type=module': unknown },
    // The address before beacon.js or beacon/VERSION.js, such as https://example.com/counter/. Without /be, the origin.
    [base] = src.match(/.*?\w\/(?!.*\/be)/) as string[],
    // The page's query and path, and the canonical link of the last page counted. `due` is set if a page is yet to be counted.
    query: string,
    path: string,
    canonical: string | undefined,
    /** The key of the page, without the prefix. */
    current: string,
    count: CountByHand = (self.slottedCounter = async (key = current, type = ownType) => {
      // For files, the host name is empty.
      if (local != null || location.hostname.replace(/.::1.|127.*\d|localhost/, '')) {
        let parameters = { type, key: prefix + key, ...(navigator.webdriver && { automated: 1 as never }) }
        let hit = url('hit', parameters)
        // With no-cors, a strict Referrer-Policy would set Origin to "null", which allowed_origins refuses. All responses are
        // readable, so the console stays silent unless the site may not count here at all.
        //
        // An event reports a policy violation, before or after the request fails. A blocker is recognized by how soon the request
        // failed. A slower request may have been counted and is not repeated: a missing view is better than an invented one.
        await fetch(hit, { method: 'POST', keepalive: 1 as never }).catch(() =>
          setTimeout(
            () =>
              // biome-ignore lint/suspicious/noNonNullAssertedOptionalChain: undefined is not less than a number
              (noticed[hit] || performance.getEntriesByName(hit).pop()?.duration! < REFUSED_MS) &&
              (new Image().src = url('hit.gif', parameters)),
            SETTLE_MS,
          ),
        )
      }
      // The counts on the page, with one request per type, and one per total.
      let byType: Record<string, HTMLElement[]> = {}
      for (let element of document.querySelectorAll<HTMLElement>('[data-counter],[data-total]')) {
        let { type = ownType, total } = element.dataset
        total == null
          ? (byType[type] ||= []).push(element)
          : show('v1/types/' + type, { prefix: prefix + total }, [element])
      }
      for (let type in byType)
        show(
          'v1/counters/' + type,
          byType[type]!.map((element) => ['key', prefix + (element.dataset.counter || current)]),
          byType[type]!,
        )
    }),
    url = (name: string, parameters: Parameters) => base + name + '?' + new URLSearchParams(parameters),
    show = (name: string, parameters: Parameters, elements: HTMLElement[]) =>
      fetch(url(name, parameters))
        .then((answer) => answer.json())
        .then((answer) =>
          elements.map(
            (element) => (element.textContent = (answer.counters?.shift() || answer).count.toLocaleString()),
          ),
        )
        // The page keeps its placeholders. To `noticed`, an error means nothing.
        .catch(noticed),
    /** Handles every event. Its members say, by URL, which hits a policy blocks. */
    // biome-ignore lint/suspicious/noExplicitAny: a function, and an object with a member for each URL
    noticed: any = (event = '' as Noticed) => {
      // "interactive" or "complete", not "loading": the canonical link may come after the tag.
      // A prerendered page is visible shortly before its activation, but its requests are still marked as prerendering.
      if (due && !document.prerendering && !document.hidden && document.readyState < 'l') {
        // An unchanged link belongs to the previous page. URL is not used, because it throws.
        let found =
          // biome-ignore lint/suspicious/noDoubleEquals: both are strings or undefined
          canonical != (canonical = document.querySelector<HTMLLinkElement>('[rel=canonical]')?.href) &&
          canonical?.split(/\w(\/[^?#]*)/)[1]
        current = ownKey || found || current
        due = ownKey = ''
        count()
      }
      // A new fragment is the same page; replaceState keeps state in the query. If the application is faster than the timer, the
      // previous page was counted above. A page that was never visible does not count.
      if (
        // biome-ignore lint/suspicious/noDoubleEquals: both are strings, or one is undefined
        (((query != (query = location.search)) as never) & ((event < 'r') as never)) |
        // biome-ignore lint/suspicious/noDoubleEquals: both are strings, or one is undefined
        ((path != (path = location.pathname)) as never)
      ) {
        current = path
        due = setTimeout(noticed, SETTLE_MS)
      }
      // The right button opens a menu. /d/ counts downloads itself.
      let link = event.button < 2 && (event.target as Element).closest<HTMLAnchorElement>('a[data-download]')
      // biome-ignore lint/complexity/useOptionalChain: it may be false, which has no href
      if (link && link.href.indexOf(base + 'd/'))
        count(link.dataset.download || link.pathname, link.dataset.type || 'download')
      // "enforce", not "report".
      noticed[event.blockedURI] ||= event.disposition < 'f'
      // A page that the browser keeps when it is left (pagehide) counts again when it is shown again (visibilitychange).
      due ||= event.persisted
    }
  for (let name of [
    'replaceState',
    'prerenderingchange',
    'popstate',
    'readystatechange',
    'pushState',
    'click',
    'visibilitychange',
    'auxclick',
    'pagehide',
    'securitypolicyviolation',
  ]) {
    let original = history[name]
    if (original) history[name] = (...change: unknown[]) => noticed(original.apply(history, change) || name)
    // In the capture phase, because pages may stop the propagation of clicks.
    addEventListener(name, noticed as never, 1 as never)
  }
  noticed()
  noticed()
}

export {}
