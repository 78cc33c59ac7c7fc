import { basePath } from './base-path.ts'

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

/** A table row: a header cell, followed by numbers. */
export function row(name: Node | string, ...numbers: string[]): HTMLTableRowElement {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, name),
    ...numbers.map((number) => element('td', { class: 'number' }, number)),
  )
}

/** A link to the page of a counter. */
export function counterLink(type: string, key: string): HTMLAnchorElement {
  const href = `${basePath()}/counter?${new URLSearchParams({ type, key })}`
  // A key may be empty, but a link must not.
  return element('a', { href }, element('bdi', {}, key === '' ? '(empty)' : key))
}

/**
 * Handles a group of buttons of which one is pressed.
 *
 * @param id the id of the group
 * @param first the value of the button that is pressed at first
 * @param chosen called with the value of a button when it is clicked
 * @returns a function that releases the pressed button
 */
export function onChoice(id: string, first: string, chosen: (value: string) => void): () => void {
  const buttons = [...byId(id).querySelectorAll('button')]
  const press = (value: string | undefined) => {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.value === value))
  }
  for (const button of buttons) {
    button.addEventListener('click', () => {
      press(button.value)
      chosen(button.value)
    })
  }
  press(first)
  return () => press(undefined)
}
