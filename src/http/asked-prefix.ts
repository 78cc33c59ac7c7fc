import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { InvalidInput } from '../counters/invalid-input.ts'
import { authorize, checkTypes, isAuthorized } from './authorization.ts'
import type { AppEnv } from './context.ts'

/**
 * The prefix that a request names, in the spelling that is counted; `null` if it names none. Without a token, it must be one that
 * the type lists.
 *
 * @throws {InvalidInput} of field `prefix`
 * @throws {Problem} 403
 */
export async function askedPrefix(
  c: Context<AppEnv>,
  type: CounterType,
  asked: string | undefined,
): Promise<string | null> {
  const prefix = spelledPrefix(type, asked)
  if (prefix === null || type.prefixes.includes(prefix)) return prefix
  if (!(await isAuthorized(c))) return listedPrefix(type, asked)
  await authorize(c, 'read')
  checkTypes(c, type.name)
  return prefix
}

/**
 * The same for requests that have no token.
 *
 * @throws {InvalidInput} of field `prefix`
 */
export function listedPrefix(type: CounterType, asked: string | undefined): string | null {
  const prefix = spelledPrefix(type, asked)
  if (prefix === null || type.prefixes.includes(prefix)) return prefix
  throw new InvalidInput('prefix', `is not public: send a token, or add it to prefixes in [vars.COUNTERS.${type.name}]`)
}

/** A prefix in the spelling that is counted; `null` if it is empty. */
export function spelledPrefix({ sameKey }: CounterType, asked: string | undefined): string | null {
  // The script sends an empty one for data-total without a value.
  if (asked === undefined || asked === '') return null
  // Of the spellings, only this one concerns the beginning of a key.
  return sameKey?.includes('letter_case') ? asked.toLowerCase() : asked
}
