import { html } from 'hono/html'
import { pageKey } from '../../counters/keys/key-address.ts'
import { viewQuery } from '../../periods.ts'
import type { TypeNumbers } from '../../service/page-numbers.ts'
import { copyable, type Html, keyText } from './layout.ts'
import { choices, hiddenFields, type Shown } from './shown-numbers.ts'

/** Opens and closes `sharePanel`. On the page of a prefix, it offers that one first. */
export function shareButton(shown: Shown): Html | '' {
  const { share, find } = shown.view
  const of = shown.type.prefixes.includes(find) ? find : ''
  const change = share === '' ? ({ share: 'total', of } as const) : ({ share: '', of: '' } as const)
  return choices(shown, 'Sharing', [['Share', change, share !== '']])
}

/** What to paste elsewhere: of everything, a prefix or a key. @param list the keys to choose from */
export function sharePanel(shown: Shown, origin: string, list: TypeNumbers['list']): Html | '' {
  const { type, view, path, named } = shown
  if (view.share === '') return ''
  const setting = html`<code>[vars.COUNTERS.${type.name}]</code>`
  const isKey = view.share === 'key'
  const of = isKey || type.prefixes.includes(view.of) ? view.of : ''
  const totals = ['', ...type.prefixes].map((prefix) => {
    const text = prefix === '' ? `All ${type.keys}` : keyText(prefix)
    return [text, { share: 'total', of: prefix }, !isKey && of === prefix] as const
  })
  const fields = { ...named, ...viewQuery({ ...view, share: 'key', of: '' }) }
  return html`<section id="share" class="card" aria-labelledby="share-title">
<div class="row card-head"><h2 id="share-title">Share</h2> ${type.public ? choices(shown, 'What to share', totals) : ''}</div>
${
  type.public
    ? html`<form class="row" action="${path}">${hiddenFields(fields)}
<label for="share-key">One key</label>
<input id="share-key" name="of" required maxlength="512" list="share-keys" autocomplete="off" value="${isKey ? of : ''}">
<datalist id="share-keys">${list.counters.map(({ key }) => html`<option value="${key}">`)}</datalist>
<button>Show</button></form>
${snippets(shown, origin, isKey, of)}
${type.publicPage ? copyable('share-page', `Public page of all ${type.keys}`, `${origin}${path}stats/${encoded(type.name)}`, 1) : html`<p>There is no public page. To publish one, set <code>public_page = true</code> in ${setting}.</p>`}`
    : html`<p>These counts are private. To let anyone read them, set <code>public = true</code> in ${setting}.</p>`
}
</section>`
}

function snippets({ type, path }: Shown, origin: string, isKey: boolean, of: string): Html {
  const image = (kind: string) => `${path}${kind}/${encoded(type.name)}${isKey ? `/${encoded(of)}` : ''}.svg`
  const query = isKey || of === '' ? '' : `?prefix=${encoded(of)}`
  const unit = type.unit.replaceAll(/[\\[\]]/g, '\\$&')
  // Browsers keep an image for a minute, even if the count was set since.
  const version = `${query === '' ? '?' : '&'}v=${Date.now()}`
  const images = ['Badge', 'Chart'].map((label) => {
    const address = image(label.toLowerCase()) + query
    return html`${copyable(`share-${label.toLowerCase()}`, label, `![${unit}](${origin}${address})`, 2)}
<p><img src="${address}${version}" alt="Preview" loading="lazy" height="${label === 'Badge' ? 20 : 100}"></p>`
  })
  const value = of.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const element = `<b data-${isKey ? 'counter' : 'total'}="${value}" data-type="${type.name}">…</b>`
  // The script spells keys as those of pages are, and so cannot name all.
  const number =
    pageKey(of) === of
      ? html`${copyable('share-number', 'Number in a page with the script', element, 2)}
<p class="hint">If the script has a <code>data-prefix</code>, leave that prefix out.</p>`
      : html`<p>Number in a page: not available, because the script cannot spell this key.</p>`
  return html`${images}${number}`
}

/** Percent-encoded, the brackets too: they would end a link in Markdown. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
