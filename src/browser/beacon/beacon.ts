// Any edit except to comments changes the minified bytes (esbuild picks short names by letter frequency) and needs a new release.
// biome-ignore-all lint/style/useConst: esbuild writes let anyway
// biome-ignore-all lint/style/useTemplate: longer
// biome-ignore-all lint/suspicious/noAssignInExpressions: shorter than statements
// biome-ignore-all lint/suspicious/noDoubleEquals: shorter, and both sides have one type or are undefined

// The beacon: the script that a site includes with <script defer src="https://COUNTER/slotted.js"></script>.
//
// - It counts a view when the page becomes visible, and follows navigation in single-page applications.
// - It counts clicks on links with data-download.
// - It writes counts into elements with data-counter and data-total, also if they are added or change later.
//
// It uses no cookies and no storage; its only global is `slottedCounter`. It throws nothing into the page. The Worker spells the
// keys. It must not exceed 1,300 bytes gzipped, so it is one terse file, in the order that compresses best. `npm run
// release-beacon` makes the text that is served.

/** For pages to call. Counts one, by default for the page, and resolves after the response. */
type CountByHand = (key?: string, type?: string) => Promise<void>
/** An event, or the name of a method of `history`. */
type Noticed = MouseEvent & SecurityPolicyViolationEvent & PageTransitionEvent & { navigationType?: string } & string
/** An element, with the parameter `of` for `/v1/shown` that was asked for it, and whether it has a number. */
type Shown = HTMLElement & { slottedCounter?: string; slotted?: string | boolean }

declare const self: Window & { slottedCounter?: CountByHand; navigation?: EventTarget }
declare const document: Document & { prerendering?: boolean }
// biome-ignore lint/suspicious/noExplicitAny: its methods are called by names from a list
declare const history: Record<string, any>

/** A request that fails sooner was not counted: a round trip and a commit take longer. */
const REFUSED_MS = 20
/** The time for an application to update the canonical link and to add elements, and for the browser to report why a request failed. */
const SETTLE_MS = 99
/** Names in one request: Cloudflare takes addresses of 16 KB. */
const MAX_NAMES = 50

try {
  // If a page has the tag twice, it counts once.
  if (!self.slottedCounter) {
    // There is none in a module, or if a loader evaluates the script; in SVG, it has no src.
    let {
        src,
        dataset: {
          type: ownType = 'page_view',
          key: ownKey,
          hash,
          // For files, the host name is empty. console.log returns nothing: whoever tries the script out would look for why
          // nothing counts.
          local = location.hostname.replace(/.::1.|127.*\d|localhost/, '') || console.log('needs data-local'),
          prefix = '',
        },
      } = document.currentScript as HTMLScriptElement,
      // The folder of the script, such as https://example.com/counter/.
      [base] = src.match(/[^?]*\//) as string[],
      // `due` is set if a page is yet to be counted. The page's query and path, and the canonical link of the last page counted.
      due: unknown,
      query: string,
      path: string,
      canonical: string | undefined,
      /** The key of the page, without the prefix. */
      current: string,
      /** Set while a change of the page waits for others. */
      timer: unknown,
      count: CountByHand = (self.slottedCounter = async (key = current, type = ownType) => {
        if (local != null) {
          // The type comes last: lists of blockers name `?type=pageview&`.
          let parameters =
            '?' +
            new URLSearchParams({ key: prefix + key, automated: ((navigator.webdriver as never) | 0) as never, type })
          let hit = base + 'hit' + parameters
          // With no-cors, a strict Referrer-Policy would set Origin to "null", which allowed_origins refuses. All responses are
          // readable, so the console stays silent unless the site may not count here at all.
          //
          // An event reports a policy violation, before or after the request fails. A blocker is recognized by how soon the request
          // failed. A slower request may have been counted and is not repeated: a missing view is better than an invented one.
          try {
            await fetch(hit, { method: 'POST', keepalive: 1 as never })
          } catch {
            setTimeout(
              () =>
                // biome-ignore lint/suspicious/noNonNullAssertedOptionalChain: undefined is not less than a number
                (noticed[hit] || performance.getEntriesByName(hit).pop()?.duration! < REFUSED_MS) &&
                (new Image().src = base + 'hit.gif' + parameters),
              SETTLE_MS,
            )
          }
        }
        show(1)
      }),
      /** Asks for the counts of all elements (`again`), or of those that do not show theirs. Removes numbers of other keys. */
      show = (again?: unknown) => {
        let elements = [...document.querySelectorAll<Shown>('[data-counter],[data-total]')].filter((element) => {
          let { type = ownType, total, counter } = element.dataset
          let name = type + (total == null ? ' ' : '* ') + prefix + (total ?? (counter || current))
          if (element.slottedCounter != name && element.slotted) element.slotted = element.textContent = ''
          // The page may put its placeholder back.
          return (
            ((element.slottedCounter != (element.slottedCounter = name)) as never) | (again as never) ||
            (element.slotted && !(element.slotted = /\p{N}/u.test(element.textContent!)))
          )
        })
        for (; elements[0]; )
          (async (elements: Shown[]) => {
            try {
              let names = elements.map((element) => ['of', element.slottedCounter as string])
              ;((await (await fetch(base + 'v1/shown?' + new URLSearchParams(names))).json()) as (number | null)[]).map(
                (number, index) =>
                  elements[index]!.slottedCounter == names[index]![1] &&
                  number != null &&
                  (elements[index]!.slotted = elements[index]!.textContent = number.toLocaleString()),
              )
            } catch {
              // The page keeps its placeholders.
            }
          })(elements.splice(0, MAX_NAMES))
      },
      /** Handles every event. Its members say, by URL, which hits a policy blocks. */
      // biome-ignore lint/suspicious/noExplicitAny: a function, and an object with a member for each URL
      noticed: any = (event = '' as Noticed) => {
        try {
          // "interactive" or "complete", not "loading": the canonical link may come after the tag.
          // A prerendered page is visible shortly before its activation, but its requests are still marked as prerendering.
          if (due && !document.prerendering && !document.hidden && document.readyState < 'l') {
            // An unchanged link belongs to the previous page.
            let found =
              canonical != (canonical = document.querySelector<HTMLLinkElement>('[rel=canonical]')?.href) &&
              canonical &&
              hash == null &&
              new URL(canonical)
            current =
              ownKey ||
              (found &&
                location.hostname.replace(/^www\.|\.$/g, '') == found.hostname.replace(/^www\.|\.$/g, '') &&
                found.pathname + found.search) ||
              current
            // Its timer would count the next page before that has settled. `due` is no timer's number if the browser kept the page.
            count((ownKey = due = clearTimeout(due as never) as never))
          }
          // A new fragment is the same page; replacing keeps state in the query. If the application is faster than the timer, the
          // previous page was counted above. A page that was never visible does not count.
          if (
            (((query != (query = location.search)) as never) & (((event.navigationType || event)[0] != 'r') as never)) |
            ((path != (path = location.pathname + (hash == null ? '' : location.hash))) as never)
          ) {
            current = path
            due = setTimeout(noticed, SETTLE_MS)
          }
          // The right button opens a menu, and the second click of a double click does nothing more.
          let link =
            event.button < 2 &&
            event.detail < 2 &&
            (event.composedPath() as HTMLAnchorElement[]).find((element) => element.matches?.('a[data-download]'))
          if (link) {
            // A link in SVG has no host, nor has mailto:.
            let {
              href,
              host,
              pathname,
              dataset: { download, type = 'download' },
            } = link
            // /d/ counts downloads itself, without the slash in front. The page may prevent the click later.
            if (`${href}`.indexOf(base + 'd/') && (download ||= host && pathname.slice(!prefix as never)))
              setTimeout(() => event.defaultPrevented || count(download, type))
          }
          // "enforce", not "report".
          noticed[event.blockedURI] ||= event.disposition < 'f'
          // A page that the browser keeps when it is left (pagehide) counts again when it is shown again (visibilitychange).
          due ||= -event.persisted as never
        } catch {
          // The page must not notice.
        }
      }
    for (let name of [
      'replaceState',
      'pagehide',
      'prerenderingchange',
      'visibilitychange',
      // Tells of all navigation, before popstate. Without it, the methods of history are wrapped.
      'currententrychange',
      'click',
      'pushState',
      'auxclick',
      (!self.navigation && 'popstate') as never as string,
      'readystatechange',
      'securitypolicyviolation',
    ]) {
      // biome-ignore lint/suspicious/noExplicitAny: a method, false or undefined
      let original: any = !self.navigation && history[name]
      if (original) history[name] = (...change: unknown[]) => noticed(original.apply(history, change) || name)
      // In the capture phase, because pages may stop the propagation of clicks.
      addEventListener(name, noticed as never, 1 as never)
      self.navigation?.addEventListener(name, noticed as never)
    }
    // All attributes: their names would take 20 bytes. It does not look into shadow roots.
    new MutationObserver(() => (timer ||= setTimeout(() => (timer = due ? 0 : show()), SETTLE_MS))).observe(document, {
      childList: 1 as never,
      attributes: 1 as never,
      subtree: 1 as never,
    })
    noticed(noticed() as never)
  }
} catch {
  console.log('needs <script>')
}

export {}
