import { byId, element, keyText } from './elements.ts'

/** What a visitor is asked before something changes. */
export interface Question {
  title: string
  /** What will happen, as paragraphs. */
  what: readonly (string | Node)[]
  /** The button that does it. */
  button: string
}

/** Asks in the page's dialog. Its first button, which has the focus, changes nothing. */
export async function confirmed({ title, what, button }: Question): Promise<boolean> {
  byId('confirm-title').textContent = title
  byId('confirm-text').replaceChildren(...what.map((part) => (part instanceof Node ? part : element('p', {}, part))))
  byId('confirm-button').textContent = button
  const dialog = byId<HTMLDialogElement>('confirm')
  dialog.returnValue = ''
  dialog.showModal()
  await new Promise((closed) => dialog.addEventListener('close', closed, { once: true }))
  return dialog.returnValue === 'confirm'
}

/** A key in a question. Its spaces and its direction stay what they are. */
export function keyLine(...keys: readonly string[]): HTMLElement {
  const parts = keys.flatMap((key, index) => [
    ...(index === 0 ? [] : [' ', element('span', { role: 'img', 'aria-label': 'becomes' }, '→'), ' ']),
    keyText(key),
  ])
  return element('p', { class: 'key' }, ...parts)
}
