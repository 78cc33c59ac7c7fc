import type { Unit } from '../../units.ts'
import { visibleKey } from '../../visible-key.ts'
import { toCsv } from './csv.ts'
import type { Count } from './numbers-answer.ts'

/** @throws if the page and the script do not match */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`There is no #${id}.`)
  return found as Kind
}

type Attributes = Record<string, string | number>
/** Text or elements, never markup, because keys come from strangers. */
type Content = (Node | string)[]

export function element<Name extends keyof HTMLElementTagNameMap>(name: Name, given: Attributes, ...content: Content) {
  return filled(document.createElement(name), given, content)
}

/** Creates an element of a drawing. */
export function shape(name: string, given: Attributes, ...content: Content) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), given, content)
}

function filled<Made extends Element>(made: Made, given: Attributes, content: Content): Made {
  for (const [attribute, value] of Object.entries(given)) made.setAttribute(attribute, String(value))
  made.append(...content)
  return made
}

export function numberCell(text: string): HTMLTableCellElement {
  return element('td', { class: 'number' }, text)
}

/** The unit that an element of the page names. */
export function unitOf({ dataset: { unit = '', unitOne } }: HTMLElement): Unit {
  return { unit, unitOne: unitOne ?? null }
}

/** A key that keeps its writing direction to itself. */
export function keyText(key: string): HTMLElement {
  return element('bdi', {}, visibleKey(key))
}

/** Sets a text if it differs, so that selected text stays selected and screen readers do not repeat it. */
export function setText(id: string, text: string): void {
  const holder = byId(id)
  if (holder.textContent !== text) holder.textContent = text
}

/** Starts the buttons that copy a text. The element after a button says what happened. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copies]')) {
    const area = byId<HTMLTextAreaElement>(button.dataset.copies!)
    button.addEventListener('click', async () => {
      area.select()
      const copied = await copies(area.value)
      button.nextElementSibling!.textContent = copied ? 'Copied.' : 'Selected. Copy it with the keyboard.'
    })
  }
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

/** Saves rows as a file: a text and counts each. */
export function saveCsv(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly [text: string, ...counts: (Count | null | undefined)[]])[],
): void {
  // Counts beyond 2^53 are strings of digits.
  const exactly = (count: Count | null = null) => (typeof count === 'string' ? BigInt(count) : count)
  const csv = toCsv([columns, ...rows.map(([text, ...counts]) => [text, ...counts.map((count) => exactly(count))])])
  // Spreadsheets read UTF-8 only with a byte order mark.
  const url = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }))
  const file = `${name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, 100)}.csv`
  element('a', { href: url, download: file }).click()
  // The browser has taken the file by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
