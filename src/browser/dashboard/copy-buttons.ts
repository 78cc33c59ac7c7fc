import { byId } from './elements.ts'

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
