import { basePath } from './address.ts'
import { ask, path } from './api.ts'
import { type ApiError, messageOf } from './api-error.ts'
import { byId, startCopyButtons } from './elements.ts'
import { setText } from './figures.ts'

/** The maximum number of requests that fail because the database does not answer. */
const MAX_FAILURES = 5
const PAUSE_MS = 2_000

/** Starts the page that makes the tables. */
export function startSetupPage(): void {
  const button = document.querySelector<HTMLButtonElement>('#make-tables')
  if (button === null) return
  startCopyButtons()
  button.addEventListener('click', async () => {
    button.disabled = true
    byId('deploy-request').hidden = true
    setText('setup-message', 'Making the tables …')
    try {
      await makeTables()
      // Without the query, which named no page.
      location.replace(`${basePath()}/`)
    } catch (error) {
      const { code, message } = error as ApiError
      // Only the Worker knows which statement the database refused, and why.
      setText('setup-message', code === 'setup_stopped' ? message : messageOf(error))
      if (code === 'deploy_request_needed') await showStatements().catch(() => {})
      button.disabled = false
    }
  })
}

async function makeTables(): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask('POST', path('setup'))
    } catch (error) {
      const { status } = error as ApiError
      // The answer may have been lost. Running it again changes nothing.
      if ((status !== 0 && status !== 503) || failures === MAX_FAILURES) throw error
      setText('setup-message', messageOf(error, 'Trying again …'))
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

async function showStatements(): Promise<void> {
  const { statements } = await ask<{ statements: string[] }>('GET', path('setup'))
  byId<HTMLTextAreaElement>('statements').value = statements.map((statement) => `${statement};`).join('\n\n')
  byId('deploy-request').hidden = statements.length === 0
}
