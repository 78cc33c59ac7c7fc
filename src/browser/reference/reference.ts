// Without this script, every operation at /docs can still be opened, found and printed.
import { copies } from '../dashboard/elements.ts'

/** How long a button says that it has copied, in milliseconds. */
const SAID_MS = 2_000

const all = [...document.querySelectorAll<HTMLDetailsElement>('.operation')].map((operation) => {
  // Without examples, which would match too much.
  const parts = [...operation.querySelectorAll('.operation > summary, .about, dt code')]
  return { operation, text: parts.map(({ textContent }) => textContent!.toLowerCase()).join(' ') }
})
const chapters = document.querySelectorAll<HTMLElement>('.chapter')
const form = document.querySelector<HTMLFormElement>('#filter')!
const said = document.querySelector('#copied')!
const wanted = document.querySelector<HTMLInputElement>('#wanted')!

/** The operation that the filter has opened. */
let opened: HTMLDetailsElement | undefined

/** Shows the operations that contain every word. While only one is left, it is open. */
function filter(): void {
  const words = wanted.value.toLowerCase().split(/\s+/)
  for (const { operation, text } of all) operation.hidden = !words.every((word) => text.includes(word))
  for (const chapter of chapters) chapter.hidden = chapter.querySelector('.operation:not([hidden])') === null
  const left = all.filter(({ operation }) => !operation.hidden)
  const only = left.length === 1 ? left[0]!.operation : undefined
  if (opened !== only) opened?.removeAttribute('open')
  opened = only?.open ? opened : only
  if (only) only.open = true
  document.querySelector('#found')!.textContent =
    wanted.value.trim() === '' ? '' : left.length === 1 ? '1 operation' : `${left.length || 'No'} operations`
}

form.hidden = false
wanted.addEventListener('input', filter)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const first = all.find(({ operation }) => !operation.hidden)?.operation
  if (first === undefined) return
  first.open = true
  first.querySelector('summary')!.focus()
})
// A browser that goes back fills the field again.
addEventListener('pageshow', filter)

/** Opens what the address names, even if the filter hides it. Not every browser does so by itself. */
function reveal(): void {
  const target = document.getElementById(location.hash.slice(1))
  const operation = target?.closest<HTMLDetailsElement>('.operation')
  if (!target || !operation) return
  operation.open = true
  if (!operation.hidden) return
  wanted.value = ''
  filter()
  target.scrollIntoView()
}
addEventListener('hashchange', reveal)
reveal()

for (const caption of document.querySelectorAll('.caption')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy: ${caption.textContent}`)
  button.addEventListener('click', async () => {
    const code = caption.nextElementSibling!
    const copied = await copies(code.textContent!)
    if (!copied) getSelection()?.selectAllChildren(code)
    button.textContent = copied ? 'Copied' : 'Selected'
    said.textContent = copied ? 'Copied' : 'Selected. Copy it with the keyboard.'
    setTimeout(() => {
      button.textContent = 'Copy'
      said.textContent = ''
    }, SAID_MS)
  })
  caption.append(' ', button)
}
