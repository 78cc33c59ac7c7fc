import { byId } from './elements.ts'
import * as snippets from './snippets.ts'

/** The pause in typing after which the preview is loaded, in milliseconds. */
const PAUSE_MS = 300

interface Kind {
  hint: string
  /** What is to be pasted. Images are written in the chosen format. */
  text?(subject: snippets.Subject, visitors: DOMStringMap): string
}

const FORMATS: Record<string, typeof snippets.inHtml> = { html: snippets.inHtml, markdown: snippets.inMarkdown }
const NUMBERS = 'Needs the script in the same page, which writes numbers for the visitor’s language.'
const KINDS: Record<string, Kind> = {
  counting: { hint: 'Counts each time it is loaded: for README files and profiles.' },
  download: {
    hint: 'Counts the download and redirects to the file. It works without the script.',
    text: (subject) => snippets.downloadLink(subject) ?? 'This key is not a path of names, so it cannot be downloaded.',
  },
  script: {
    hint: 'Put it before </body> of one page. Without data-key it counts each page under its own path.',
    text: snippets.scriptTag,
  },
  pixel: { hint: 'For pages without JavaScript.', text: snippets.pixelTag },
  count: { hint: NUMBERS, text: snippets.countElement },
  both: {
    hint: NUMBERS,
    text: (subject, { visitors = '', visitorsUnit = '' }) =>
      `${snippets.countElement(subject)} by ${snippets.countElement({ ...subject, type: visitors, unit: visitorsUnit })}`,
  },
  program: {
    hint: 'Put a token with the scope count in place of TOKEN: npm run token makes one, or npx slotted-counter token.',
    text: snippets.request,
  },
}

export function startBuilder(subject: snippets.Subject): void {
  const form = byId<HTMLFormElement>('snippet')
  const fields = document.querySelectorAll<HTMLElement>('[data-for]')
  const previews = document.querySelectorAll<HTMLImageElement>('.grounds img')
  let timer: ReturnType<typeof setTimeout> | undefined

  const write = () => {
    const given = Object.fromEntries(new FormData(form)) as Record<string, string>
    const { kind = '', label = '', color = '', style = '', period = '', compact = '', days = '', format = '' } = given
    for (const field of fields) field.hidden = !field.dataset.for!.split(' ').includes(kind)
    const { hint = '', text } = KINDS[kind] ?? {}
    byId('snippet-hint').textContent = hint
    const isChart = kind === 'chart'
    if (text === undefined && !isChart && !form.checkValidity()) return
    const look: Record<string, string> = isChart ? { period: days } : { label, color, style, period, compact }
    // The preview never counts.
    const preview = snippets.imageAddress(isChart ? 'chart' : 'badge', subject, look)
    const image = kind === 'counting' ? snippets.imageAddress('hit', subject, look) : preview
    const alt = isChart ? `Chart of ${subject.unit}` : label || subject.unit
    byId<HTMLTextAreaElement>('snippet-code').value =
      text?.(subject, form.dataset) ?? FORMATS[format]?.(image, alt) ?? image
    clearTimeout(timer)
    if (text !== undefined || previews[0]!.src === preview) return
    timer = setTimeout(() => {
      for (const shown of previews) shown.src = preview
    }, PAUSE_MS)
  }
  form.addEventListener('input', write)
  // Only of the changed field: a hidden one may be invalid.
  form.addEventListener('change', ({ target }) => (target as HTMLInputElement).reportValidity())
  form.addEventListener('submit', (event) => event.preventDefault())
  // The previews are loaded once the form is open.
  byId('builder').addEventListener('toggle', write, { once: true })
}
