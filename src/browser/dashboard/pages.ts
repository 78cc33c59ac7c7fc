// The script of all pages but that of a counter.
import { basePath, readView } from './address.ts'
import { ApiError, ask, messageOf, path, startWork } from './api.ts'
import { byId, element, setText, startCopyButtons } from './elements.ts'
import { startNumbers } from './live-numbers.ts'
import { TIME_ZONE, type TypeNumbers } from './numbers-answer.ts'
import { startOverviewPage } from './overview-page.ts'
import { startTopList } from './top-list.ts'

/** The maximum number of requests that fail because the database does not answer. */
const MAX_FAILURES = 5
const PAUSE_MS = 2_000

const { page, type = '' } = byId('main').dataset
startCopyButtons()
startCheckForm()
const makeButton = document.querySelector<HTMLButtonElement>('#make-tables')
if (makeButton !== null) startWork(makeButton, 'setup-message', makeTables)
if (page === 'public') startPublicPage(type)
if (page === 'overview') startOverviewPage(type)
// With the time zone, the page after signing in includes its numbers.
const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
if (zone !== null) zone.value = TIME_ZONE

/** Starts the form that asks whether a hit from this browser counts. */
function startCheckForm(): void {
  const form = document.querySelector<HTMLFormElement>('#check')
  form?.addEventListener('submit', async (event) => {
    event.preventDefault()
    const query = new URLSearchParams([...new FormData(form)] as [string, string][])
    // As the script that counts says it.
    if (navigator.webdriver) query.set('automated', '1')
    const { says } = await ask<{ says: string[] }>('POST', `${basePath()}/check?${query}`).catch(unchecked)
    byId('check-answer').replaceChildren(
      ...says.map((line, index) => element('p', {}, index === 0 ? element('b', {}, line) : line)),
    )
  })
}

function unchecked(error: unknown): { says: string[] } {
  if (!(error instanceof ApiError) || error.status !== 0) return { says: [messageOf(error)] }
  const why = 'A blocker in this browser or the network may have stopped it.'
  return { says: ['The hit did not reach the Worker.', why] }
}

/** Starts the page of a type for everybody. */
function startPublicPage(type: string): void {
  const showList = startTopList(null)
  // Somebody may have made the address from one of the dashboard.
  const { from, find, by } = readView()
  if (from || find || by) {
    history.replaceState(null, '', location.pathname)
    const notice = 'Only the dashboard shows the days or the keys of this address. These are 30 days of all keys.'
    byId('main').before(element('p', { class: 'notice' }, notice))
  }
  startNumbers<TypeNumbers>({ type }, ({ list: { counters }, timeZone, checked }, { isNew }) => {
    showList(counters, isNew)
    setText('top-message', counters.length === 0 ? 'Nothing was counted in this period.' : '')
    setText('as-of', `As of the last roll-up. Days begin at midnight in ${timeZone}. ${checked ?? ''}`)
  })
}

/** Makes the tables. Returns what the page says of it. */
async function makeTables(say: (text: string) => void): Promise<string> {
  say('Making the tables …')
  for (let failures = 1; ; failures++) {
    try {
      await ask('POST', path('setup'))
      // Without the query, which named no page.
      location.replace(`${basePath()}/`)
      return 'The tables are there.'
    } catch (error) {
      const { status, code, message } = error as ApiError
      byId('deploy-request').hidden = code !== 'deploy_request_needed'
      // Only the Worker knows which statement the database refused, and why.
      if (code === 'setup_stopped') return message
      // The answer may have been lost. Running it again changes nothing.
      if ((status !== 0 && status !== 503) || failures === MAX_FAILURES) throw error
      say(messageOf(error, 'Trying again …'))
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
