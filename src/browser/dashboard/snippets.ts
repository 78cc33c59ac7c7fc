import { spellInvisible } from '../../visible-key.ts'

export interface Subject {
  /** The Worker's origin and base path. */
  address: string
  type: string
  key: string
  /** The plural of what is counted. */
  unit: string
}

/** The address of an image with the parameters of its look. A badge of the kind `hit` counts each time it is loaded. */
export function imageAddress(
  kind: 'badge' | 'hit' | 'chart',
  { address, type, key }: Subject,
  look: Record<string, string>,
): string {
  const given = Object.entries(look).filter(([, value]) => value !== '')
  const query = new URLSearchParams(given).toString()
  return `${address}/${kind}/${segment(type)}/${segment(key)}.svg${query && `?${query.replaceAll('+', '%20')}`}`
}

export function inMarkdown(image: string, alt: string): string {
  return `![${alt.replaceAll(/[[\]\\]/g, '\\$&')}](${image})`
}

export function inHtml(image: string, alt: string): string {
  return `<img src="${escaped(image)}" alt="${escaped(alt)}">`
}

/** The script that counts the page. */
export function scriptTag({ address, type, key }: Subject): string {
  return `<script defer src="${escaped(address)}/slotted.js"${ofType(type)} data-key="${escaped(key)}"></script>`
}

/** An image that counts the page without JavaScript. The type comes last: lists of blockers name `?type=pageview&`. */
export function pixelTag({ address, type, key }: Subject): string {
  return inHtml(`${address}/hit.gif?key=${segment(key)}&type=${segment(type)}`, '')
}

/** An element in which the script writes the count. */
export function countElement({ type, key, unit }: Subject): string {
  return `<b data-counter="${escaped(key)}"${ofType(type)}>…</b> ${escaped(unit)}`
}

/** A request with which a program counts. */
export function request({ address, type, key }: Subject): string {
  const url = `${address}/v1/counters/${segment(type)}/${segment(key)}`
  return `curl -X POST '${url}' -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"by":1}'`
}

/** A link that counts downloads; `null` if the key is not a path of names. */
export function downloadLink({ address, type, key }: Subject): string | null {
  const names = key.split('/')
  const isPath = names.every((name) => name !== '' && name !== '.' && name !== '..') && !/[\\\p{Cc}]/u.test(key)
  return isPath ? `<a href="${escaped(address)}/d/${segment(type)}/${names.map(segment).join('/')}">Download</a>` : null
}

/** The attribute that names a type. Without it, the script counts page views. */
function ofType(type: string): string {
  return type === 'page_view' ? '' : ` data-type="${escaped(type)}"`
}

/** Percent-encodes a segment. A parenthesis would end the address in Markdown, a quotation mark in a shell. */
function segment(text: string): string {
  return encodeURIComponent(text).replace(/[()']/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
}

function escaped(text: string): string {
  const markup = text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return spellInvisible(markup, (digits) => `&#x${digits};`)
}
