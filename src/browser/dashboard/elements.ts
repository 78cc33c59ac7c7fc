/** @throws if the page and the script do not match */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`There is no #${id}.`)
  return found as Kind
}

/** @param content text or elements, never markup, because keys come from strangers */
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

/** Handles an event of elements that may be replaced: of the nearest one around its target that a selector matches. */
export function on<Name extends keyof DocumentEventMap>(
  name: Name,
  selector: string,
  handle: (found: HTMLElement, event: DocumentEventMap[Name]) => void,
): void {
  document.addEventListener(name, (event) => {
    const found = event.target instanceof Element && event.target.closest<HTMLElement>(selector)
    if (found) handle(found, event)
  })
}

/** Says something above the numbers. Screen readers read it. Nothing: takes back what was said. */
export function say(...what: (Node | string)[]): void {
  byId('message').replaceChildren(...what)
}

/** Copies a text, if the browser lets the page do so. */
export async function copies(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
