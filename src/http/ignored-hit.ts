import type { Context } from 'hono'
import { isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

/** The origin or the URL of the page that sent a request. */
export function senderOf(c: Context<AppEnv>): string | undefined {
  return c.req.header('Origin') ?? c.req.header('Referer')
}

/**
 * Remembers a visit that was not counted, for the status.
 *
 * @param type the name of a configured type
 * @param said the value of `X-Hit`
 */
export function rememberIgnored(c: Context<AppEnv>, type: string, said: string): void {
  if (said.startsWith('ignored')) isolateOf(c.env).ignoredHits.remember(type, said, senderOf(c), new Date())
}
