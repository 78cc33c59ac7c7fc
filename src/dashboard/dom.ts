/** The element with that id: the page has it, or the page and this script do not belong together. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`There is no #${id}.`)
  return found as Kind
}

/**
 * Makes an element. Whatever is put into it is text or another element, never markup: keys come from strangers.
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

/** A row of a table, with its first cell as its name and numbers to the right. */
export function row(name: Node | string, ...numbers: string[]): HTMLTableRowElement {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, name),
    ...numbers.map((number) => element('td', { class: 'number' }, number)),
  )
}

/** The page of a counter. */
export function counterLink(type: string, key: string): HTMLAnchorElement {
  const href = `/counter?${new URLSearchParams({ type, key })}`
  // A key may be empty, but a link must not.
  return element('a', { href }, element('bdi', {}, key === '' ? '(empty)' : key))
}

/**
 * A group of buttons of which one is pressed.
 *
 * @param id of the group
 * @param first value of the button that is pressed to begin with, if one is
 * @param chosen told of another choice
 * @returns what takes the choice back
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
