import { basePath } from './address.ts'
import { ask } from './api.ts'
import { ApiError, messageOf } from './api-error.ts'
import { byId, element } from './elements.ts'

/** Starts the form that asks whether a hit from this browser counts. */
export function startCheckForm(): void {
  const form = document.querySelector<HTMLFormElement>('#check')
  form?.addEventListener('submit', async (event) => {
    event.preventDefault()
    const query = new URLSearchParams([...new FormData(form)] as [string, string][])
    // As the script that counts says it.
    if (navigator.webdriver) query.set('automated', '1')
    const said = await ask<{ says: string[] }>('POST', `${basePath()}/check?${query}`).then(({ says }) => says, failed)
    const [answer = '', ...why] = said
    byId('check-answer').replaceChildren(
      element('p', {}, element('b', {}, answer)),
      ...why.map((line) => element('p', {}, line)),
    )
  })
}

function failed(error: unknown): string[] {
  if (error instanceof ApiError && error.status === 0) {
    return ['The hit did not reach the Worker.', 'A blocker in this browser or the network may have stopped it.']
  }
  return [messageOf(error)]
}
