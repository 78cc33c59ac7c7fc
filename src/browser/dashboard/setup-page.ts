import { ApiError, ask, messageOf, path } from './api.ts'
import { basePath } from './base-path.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { byId } from './elements.ts'

/** A request makes most of the tables, so this is more than enough. */
const MAX_REQUESTS = 20
/** Requests in a row that may fail because the database does not answer. */
const MAX_FAILURES = 5
/** Milliseconds before the next one. */
const PAUSE_MS = 2_000

interface Summary {
  outcome: 'complete' | 'partial'
  applied: string[]
  pending: string[]
  notices: string[]
}

/** Starts the page that makes the tables. */
export function startSetupPage(): void {
  const button = document.querySelector<HTMLButtonElement>('#make-tables')
  if (button === null) return
  startCopyButtons()
  const say = (text: string) => {
    byId('setup-message').textContent = text
  }
  button.addEventListener('click', async () => {
    button.disabled = true
    byId('deploy-request').hidden = true
    say('Making the tables …')
    try {
      const notices = await makeTables(say)
      if (notices.length === 0) {
        // Without the query, which named no page.
        location.replace(`${basePath()}/`)
        return
      }
      say(`The tables are ready. ${notices.join(' ')}`)
      byId('setup-done').hidden = false
    } catch (error) {
      say(messageOf(error))
      if ((error as ApiError).code === 'deploy_request_needed') await showStatements().catch(() => {})
      button.disabled = false
    }
  })
}

/** Sends requests until the tables are made. Another browser may do the same meanwhile. */
async function makeTables(say: (text: string) => void): Promise<string[]> {
  let applied = 0
  let failures = 0
  for (let request = 0; request < MAX_REQUESTS; request++) {
    try {
      const summary = await ask<Summary>('POST', path(['setup']))
      if (summary.outcome === 'complete') return summary.notices
      failures = 0
      applied += summary.applied.length
      say(`Applied ${applied} of ${applied + summary.pending.length} migrations …`)
    } catch (error) {
      const { status } = error as ApiError
      // The answer may have been lost. What was done stays done.
      if ((status !== 0 && status !== 503) || ++failures === MAX_FAILURES) throw error
      say(`${messageOf(error)} Trying again …`)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  throw new ApiError(0, 'This takes longer than it should. Make the tables again, or look at the log.')
}

async function showStatements(): Promise<void> {
  const { statements } = await ask<{ statements: string[] }>('GET', path(['setup']))
  byId<HTMLTextAreaElement>('statements').value = statements.map((statement) => `${statement};`).join('\n\n')
  byId('deploy-request').hidden = statements.length === 0
}
