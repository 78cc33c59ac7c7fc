import { basePath, periodParameters, readView } from './address.ts'

/** The element with an id. Throws if the page does not have it, because then page and script do not match. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`There is no #${id}.`)
  return found as Kind
}

/**
 * Creates an element. Its content is text or elements, never markup, because keys come from strangers.
 *
 * @param attributes attributes by name
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...content)
  return made
}

/** A cell of a table with a number. */
export function numberCell(text: string): HTMLTableCellElement {
  return element('td', { class: 'number' }, text)
}

/** A link to the page of a counter. */
export function counterLink(type: string, key: string): HTMLAnchorElement {
  const href = `${basePath()}/counter?${new URLSearchParams({ type, key, ...periodParameters(readView()) })}`
  // A key may be empty, but a link must not.
  return element('a', { href, 'data-keeps-period': '' }, element('bdi', {}, key === '' ? '(empty)' : key))
}
