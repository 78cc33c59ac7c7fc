import * as z from 'zod/mini'
import { orNull } from './fields.ts'

/** How people see a counter type. */
export interface Presentation {
  /** What the type counts, as a heading: "Page views". */
  title: string
  /** What one of its counts is, in the plural: "views". */
  unit: string
  /** The beginning of the addresses that its keys are pages of; `null`: keys lead nowhere. See `pageOf`. */
  url: string | null
}

/** The unit of types that name none. */
const UNIT = 'counts'
const MAX_TITLE = 60
const MAX_UNIT = 30

const text = (max: number) => {
  const message = `must be text of 1 to ${max} characters, without line breaks and without spaces around it`
  const fits = (value: string) =>
    value !== '' && value === value.trim() && [...value].length <= max && !/[\p{Cc}\p{Cs}]/u.test(value)
  return z.string({ error: message }).check(z.refine(fits, message))
}

const URL_RULE =
  'must be where the keys are pages: "https://example.com" or "https://example.com/items/", as browsers write it, without ? and #'

/** A URL as browsers write it, so that what is appended to it can be told from it. */
function isBeginning(value: string): boolean {
  if (!URL.canParse(value) || /[?#]/.test(value)) return false
  const { protocol, origin, href, username } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && (href === value || origin === value)
}

/** The settings of a type that concern people only. The default of a title is a name that people can read. */
export const presentation = {
  title: z.optional(text(MAX_TITLE)),
  unit: z._default(text(MAX_UNIT), UNIT),
  url: orNull(z.string({ error: URL_RULE }).check(z.refine(isBeginning, URL_RULE))),
}

/** A type's name as a title: "page_view" is "Page view". */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * The page that a key stands for, for links. Keys come from strangers: one that would lead to another site has no page.
 *
 * @param url the type's
 */
export function pageOf(url: string | null, key: string): string | null {
  if (url === null) return null
  const page = url + key
  return URL.canParse(page) && new URL(page).href.startsWith(`${new URL(url).origin}/`) ? page : null
}
