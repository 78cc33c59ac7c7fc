import { ask, hasCounters, messageOf, path, type Status } from './api.ts'
import { byId } from './elements.ts'
import { setText as say } from './figures.ts'
import { poll } from './polling.ts'

/** Two requests each time. Who comes back from the page that was opened sees the answer at once. */
const EVERY_MS = 40_000

/** Why a hit was not counted: the reasons of `X-Hit`. */
const REASONS: Record<string, (origin: string) => string> = {
  origin: (origin) => `its site, ${origin}, is not in allowed_origins.`,
  own: () => 'it came from your own network, or from a browser that is not to be counted.',
  bot: () => 'its browser says that it is a bot.',
  automated: () => 'a program drives its browser.',
  dnt: () => 'its browser asks not to be tracked.',
  rate: () => 'its network has sent too many.',
  prefetch: () => 'its browser loaded the page in advance.',
  range: () => 'it asked for a part of the file that is not its beginning.',
  embedded: () => 'a page loaded it as an image, script, style, font or frame.',
  head: () => 'it was a HEAD request.',
  duplicate: () => 'the same visitor has been counted before.',
  key: () => 'new_keys does not allow its key.',
}

/**
 * Shows what to paste where, until something is counted.
 *
 * @param arrived called once that is so
 */
export function startFirstRun(type: string, arrived: () => void): void {
  const section = byId('first-run')
  section.hidden = false
  poll(EVERY_MS, async () => {
    try {
      if (await hasCounters(type)) {
        section.hidden = true
        say('first-run-message', 'The first one has been counted.')
        arrived()
        return 'done'
      }
      say('first-run-message', 'Nothing has been counted yet.')
      // Those who may not see all types have no status.
      if (document.getElementById('pending') !== null) say('first-run-refused', await lastRefused(type))
      return 'changed'
    } catch (error) {
      say('first-run-message', messageOf(error))
      return 'failed'
    }
  })
}

async function lastRefused(type: string): Promise<string> {
  const { isolate } = await ask<Status>('GET', path('status'))
  const ignored = isolate.ignored.find((hit) => hit.type === type)
  if (ignored === undefined) return ''
  const why = REASONS[ignored.reason]?.(ignored.origin ?? 'which it does not name') ?? `${ignored.reason}.`
  return `A hit came, but was not counted: ${why}`
}
