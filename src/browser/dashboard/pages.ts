// The script of all pages.
import { ApiError, ask, BASE, messageOf, path } from './api.ts'
import { startChart } from './chart-tip.ts'
import { startChanges } from './counter-changes.ts'
import { byId, copies, element, on } from './elements.ts'
import { startSwapping, TIME_ZONE } from './page-swap.ts'

/** The maximum number of requests that fail because the database does not answer. */
const MAX_FAILURES = 5
const PAUSE_MS = 2_000

on('click', '[data-copies]', async (button) => {
  const area = byId<HTMLTextAreaElement>(button.dataset.copies!)
  area.select()
  const copied = await copies(area.value)
  button.nextElementSibling!.textContent = copied ? 'Copied.' : 'Selected. Copy it with the keyboard.'
})
on('submit', '#check', (form, event) => {
  event.preventDefault()
  void check(form as HTMLFormElement)
})
on('click', '#make-tables', async (found) => {
  const button = found as HTMLButtonElement
  button.disabled = true
  const say = (text: string) => byId('setup-message').replaceChildren(text)
  say(await makeTables(say).catch((error) => messageOf(error)))
  button.disabled = false
})
// With the time zone, the page after signing in has its days.
const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
if (zone !== null) zone.value = TIME_ZONE
if (document.querySelector('main:is([data-zone], [data-page=trouble])') !== null) {
  startChart()
  startSwapping()
}
startChanges()

async function check(form: HTMLFormElement): Promise<void> {
  const query = new URLSearchParams([...new FormData(form)] as [string, string][])
  // As the script that counts says it.
  if (navigator.webdriver) query.set('automated', '1')
  const { says } = await ask<{ says: string[] }>('POST', `${BASE}/check?${query}`).catch((error) => {
    if (!(error instanceof ApiError) || error.status !== 0) return { says: [messageOf(error)] }
    const why = 'A blocker in this browser or the network may have stopped it.'
    return { says: ['The hit did not reach the Worker.', why] }
  })
  byId('check-answer').replaceChildren(
    ...says.map((line, index) => element('p', {}, index === 0 ? element('b', {}, line) : line)),
  )
}

/** Makes the tables. Returns what the page says of it. */
async function makeTables(say: (text: string) => void): Promise<string> {
  say('Making the tables …')
  for (let failures = 1; ; failures++) {
    try {
      await ask('POST', path('setup'))
      // Without the query, which named no page.
      location.replace(`${BASE}/`)
      return 'The tables are ready.'
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
