import type { Context } from 'hono'
import type { AppEnv } from '../app-env.ts'
import type { CounterType } from '../config.ts'
import type { Isolate } from '../isolate.ts'
import { log } from '../log.ts'
import { networkOf } from './network.ts'

/**
 * Headers by which browsers say that nobody is looking yet: https://wicg.github.io/nav-speculation/prerendering.html (Sec-Purpose),
 * and what Chrome, Safari (Purpose, X-Purpose) and Firefox (X-Moz) sent before it.
 */
const PURPOSE_HEADERS = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']
const PURPOSES = /\b(?:prefetch|prerender|preview)\b/i

/** Why something that a visitor asked for is not counted. */
export type Exclusion = 'prefetch' | 'dnt' | 'bot' | 'rate'

/**
 * Finds out whether a request stands for no visitor: nobody looks at it yet, it must not be counted, a bot sent it, or its
 * sender has sent too many.
 *
 * @param downloads whether it came to download something
 * @returns the reason, or `null` if it counts
 */
export async function exclusionOf(
  c: Context<AppEnv>,
  { config, bots }: Isolate,
  type: CounterType,
  { downloads = false }: { downloads?: boolean } = {},
): Promise<Exclusion | null> {
  const { headers } = c.req.raw
  for (const name of PURPOSE_HEADERS) if (PURPOSES.test(headers.get(name) ?? '')) return 'prefetch'
  if (type.respectDoNotTrack && (headers.get('DNT') === '1' || headers.get('Sec-GPC') === '1')) return 'dnt'
  if (!type.countBots && bots.has(headers.get('User-Agent') ?? '', { downloads })) return 'bot'
  const address = config.rateLimit === null ? null : headers.get('CF-Connecting-IP')
  if (config.rateLimit === null || address === null) return null
  try {
    const { success } = await config.rateLimit.limit({ key: networkOf(address) })
    return success ? null : 'rate'
  } catch (error) {
    // It guards the counts; without it they go on.
    log('warn', 'rate_limit_failed', { error: String(error) })
    return null
  }
}
