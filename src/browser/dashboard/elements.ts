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

/** A key, whose direction ends with it. It may be empty, but a link must not. */
export function keyText(key: string): HTMLElement {
  return element('bdi', {}, key === '' ? '(empty)' : key)
}

/** Starts the buttons that copy a text. The element behind a button says what happened. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copies]')) {
    const area = byId<HTMLTextAreaElement>(button.dataset.copies!)
    button.addEventListener('click', async () => {
      area.select()
      const copied = await navigator.clipboard?.writeText(area.value).then(
        () => true,
        () => false,
      )
      button.nextElementSibling!.textContent = copied ? 'Copied.' : 'Selected. Copy it with the keyboard.'
    })
  }
}
