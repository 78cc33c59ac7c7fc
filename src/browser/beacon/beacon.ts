// Any edit except to comments changes the minified bytes (esbuild picks short names by letter frequency) and needs a new release.
// biome-ignore-all lint/suspicious/useIterableCallbackReturn: shorter than a loop
// biome-ignore-all lint/style/useConst: esbuild writes let anyway
// biome-ignore-all lint/style/useTemplate: longer
// biome-ignore-all lint/suspicious/noAssignInExpressions: shorter than statements
// biome-ignore-all lint/suspicious/noDoubleEquals: shorter, and both sides have one type or are undefined

// The beacon: the script that a site includes with <script defer src="https://COUNTER/slotted.js"></script>.
//
// - It counts a view when the page becomes visible, and follows navigation in single-page applications.
// - It counts clicks on links with data-download.
// - It writes counts into elements with data-counter and data-total, including those added or changed later.
//
// It uses no cookies and no storage; its only global is `slottedCounter`. It throws nothing into the page. The Worker spells the
// keys. It must not exceed 1,300 bytes gzipped, so it is one terse file, in the order that compresses best. `npm run
// release-beacon` makes the text that is served.

/** For pages to call. Counts one, by default for the page, and resolves after the response. */
type CountByCall = (key?: string, type?: string) => Promise<void>
/** An event, or the name of a method of `history`. */
type Noticed = MouseEvent & SecurityPolicyViolationEvent & PageTransitionEvent & { navigationType?: string } & string
/** An element, with the parameter `of` for `/v1/shown` that was asked for it. */
type Shown = HTMLElement & { slottedCounter?: unknown }

declare const self: Window & {
  slottedCounter?: CountByCall
  console?: Console
  navigation?: EventTarget
}
declare const document: Document & { prerendering?: boolean; currentScript: HTMLScriptElement; all: { 0: HTMLElement } }
// biome-ignore lint/suspicious/noExplicitAny: its methods are called by names from a list
declare const history: Record<string, any>

/** A request that fails sooner was not counted: a round trip and a commit take longer. */
const REFUSED_MS = 20
/** The time for an application to update the canonical link and to add elements, and for the browser to report why a request failed. */
const SETTLE_MS = 99
/** Cloudflare takes 16 KB. Fewer than 1,000 parameters fit, which is what the API takes. */
const MAX_ADDRESS = 6_000

try {
  // If a page has the tag twice, it counts once.
  if (!self.slottedCounter) {
    // currentScript is null in a module or a loader, and has no src in SVG. `base` is the script's folder, such as
    // https://example.com/counter/.
    let base = new URL('.', document.currentScript.src),
      {
        prefix = '',
        hash,
        type: ownType = 'page_view',
        key: keyOfTag,
        // Pages on this machine are counted only by a Worker on this machine. The host name of a file is empty. console.log returns
        // undefined; its message tells people who try the script why nothing counts.
        local = !base.hostname.replace(/.::1.|127.*\d|localhost/, '') ||
          location.hostname.replace(/.::1.|127.*\d|localhost/, '') ||
          self.console?.log('needs data-local'),
      } = document.currentScript.dataset,
      /**
       * Removes numbers of other keys and requests the counts of all elements; with 0, only those not requested yet; with 1, none.
       * While this page is still to be counted, it requests none: count() will.
       */
      show = (least?: number) => {
        let names = new Set<string>()
        let elements = document.querySelectorAll<Shown>('[data-counter],[data-total]')
        let ask = async (names: string[]) => {
          try {
            let address = base + 'v1/shown?' + new URLSearchParams(names.map((name) => ['of', name]))
            address[MAX_ADDRESS]
              ? names[1] && [names.splice(names.length / 2), names].map(ask)
              : (await (await fetch(address)).json()).map((number: number | string | null, index: number) => {
                  try {
                    number = number!.toLocaleString(document.all[0].lang)
                  } catch {
                    // The page's language is missing or invalid.
                    number = number?.toLocaleString() as string
                  }
                  for (let element of elements)
                    number && names[index] == element.slottedCounter && (element.textContent = number)
                })
          } catch {
            // The page keeps its placeholders.
          }
        }
        for (let element of elements) {
          let { counter, type = ownType, total } = element.dataset
          let name = type + (total == null ? ' ' + prefix + (counter || current) : '* ' + prefix + total)
          if (name != element.slottedCounter) element.slottedCounter &&= element.textContent = ''
          due || least! >= (!element.slottedCounter as never) || names.add((element.slottedCounter = name))
        }
        names.size && ask([...names])
      },
      /** The key of the page, without the prefix. */
      current: string,
      /** Set while a page is still to be counted. */
      due: unknown,
      /** Set while a change of the page waits for others. */
      later: unknown,
      path: string,
      query: string,
      /** The canonical link of the last page counted. */
      canonical: string | undefined,
      count: CountByCall = (self.slottedCounter = async (key = current, type = ownType) => {
        if (local != null) {
          // The type comes last: lists of blockers name `?type=pageview&`.
          let hit =
            base +
            'hit?' +
            new URLSearchParams({ automated: ((navigator.webdriver as never) | 0) as never, key: prefix + key, type })
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
                (new Image().src = hit.replace('?', '.gif?')),
              SETTLE_MS,
            )
          }
        }
        show()
      }),
      /** Handles every event. Its members say, by URL, which hits a policy blocks. */
      // biome-ignore lint/suspicious/noExplicitAny: a function, and an object with a member for each URL
      noticed: any = (event = '' as Noticed) => {
        try {
          // "interactive" or "complete", not "loading": the canonical link may come after the tag.
          // A prerendered page is visible shortly before its activation, but its requests are still marked as prerendering.
          if (document.readyState < 'l' && !document.hidden && !document.prerendering && due) {
            // An unchanged link belongs to the previous page.
            let found =
              canonical != (canonical = document.querySelector<HTMLLinkElement>('[rel=canonical]')?.href) &&
              hash == null &&
              canonical &&
              new URL(canonical)
            current =
              keyOfTag ||
              (found &&
                location.hostname.replace(/\.$|^www\./g, '') == found.hostname.replace(/\.$|^www\./g, '') &&
                found.pathname + found.search) ||
              current
            // Its timer would count the next page before that has settled. `due` is no timer's number if the browser kept the page.
            count((keyOfTag = due = clearTimeout(due as never) as never))
          }
          // A new fragment is the same page; replacing keeps state in the query. If the application is faster than the timer, the
          // previous page was counted above. A page that was never visible does not count.
          if (
            (((query != (query = location.search)) as never) & (((event.navigationType || event)[0] != 'r') as never)) |
            ((path != (path = location.pathname + (hash == null ? '' : location.hash))) as never)
          ) {
            current = path
            due = setTimeout(noticed, SETTLE_MS)
            show()
          }
          // The right button opens a menu, and the second click of a double click does nothing more.
          let link =
            event.button < 2 &&
            event.detail < 2 &&
            (event.composedPath() as HTMLAnchorElement[]).find(
              (element) => element.href && element.dataset.download != null,
            )
          if (link) {
            // A link in SVG has no host, nor has mailto:. In SVG, its href is an object.
            let {
              pathname,
              href,
              host,
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
          // Errors must not reach the page.
        }
      }
    for (let name of [
      'pagehide',
      'prerenderingchange',
      // Reports every navigation, before popstate. Without it, the methods of history are wrapped.
      'currententrychange',
      'click',
      'pushState',
      'replaceState',
      'visibilitychange',
      'auxclick',
      (!self.navigation && 'popstate') as never as string,
      'readystatechange',
      'securitypolicyviolation',
    ]) {
      let original = history[name]
      if (original && !self.navigation)
        history[name] = (...change: unknown[]) => noticed(original.apply(history, change) || name)
      self.navigation?.addEventListener(name, noticed as never)
      // In the capture phase, because pages may stop the propagation of clicks.
      addEventListener(name, noticed as never, 1 as never)
    }
    // All attributes: naming them would take 20 bytes. Shadow roots are not observed. The first of several changes is handled at once,
    // the rest together.
    new MutationObserver(() => (later ||= setTimeout(() => (later = show(0)), SETTLE_MS, show(1)))).observe(document, {
      childList: 1 as never,
      attributes: 1 as never,
      subtree: 1 as never,
    })
    noticed(noticed() as never)
  }
} catch {
  self.console?.log('needs src')
}

export {}
