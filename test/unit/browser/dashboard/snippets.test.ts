import { describe, expect, it } from 'vitest'
import * as snippets from '../../../../src/browser/dashboard/snippets.ts'

const PLAIN = { label: '', color: '', style: '', period: '', compact: '' }
const of = (key: string, type = 'page_view') => ({ address: 'https://example.com/c', type, key, unit: 'views' })

describe('A badge', () => {
  it('has only the parameters that differ from the defaults', () => {
    expect(snippets.imageAddress('badge', of('/a b'), PLAIN)).toBe('https://example.com/c/badge/page_view/%2Fa%20b.svg')
    const look = { label: 'a b+c', color: '#0a0', style: 'flat-square', period: 'week', compact: 'true' }
    expect(snippets.imageAddress('badge', of('/a'), look)).toBe(
      'https://example.com/c/badge/page_view/%2Fa.svg?label=a%20b%2Bc&color=%230a0&style=flat-square&period=week&compact=true',
    )
    expect(snippets.imageAddress('hit', of('me'), { ...PLAIN, label: 'seen' })).toBe(
      'https://example.com/c/hit/page_view/me.svg?label=seen',
    )
  })

  it('is one image in Markdown and in HTML, whatever its key and its label', () => {
    const image = snippets.imageAddress('badge', of('a)](x "<'), { ...PLAIN, label: ')"<' })
    expect(snippets.inMarkdown(image, 'a]b[c')).toMatch(/^!\[a\\\]b\\\[c\]\([^()\s"<]+\)$/)
    expect(snippets.inHtml(image, '"><script>')).toMatch(/^<img src="[^"<]+" alt="&quot;>&lt;script>">$/)
  })
})

it('A chart has its period unless it is 30 days', () => {
  expect(snippets.imageAddress('chart', of('/a (b)'), { period: '' })).toBe(
    'https://example.com/c/chart/page_view/%2Fa%20%28b%29.svg',
  )
  expect(snippets.imageAddress('chart', of('a', 'x'), { period: '90d' })).toBe(
    'https://example.com/c/chart/x/a.svg?period=90d',
  )
})

it('A script, an image and an element name their type only where it is needed', () => {
  expect(snippets.scriptTag(of('/a"&'))).toBe(
    '<script defer src="https://example.com/c/slotted.js" data-key="/a&quot;&amp;"></script>',
  )
  expect(snippets.scriptTag(of('\u202Ea\r\n '))).toContain(' data-key="&#x202E;a&#xD;&#xA;&#x20;">')
  expect(snippets.scriptTag(of('x', 'other'))).toContain(' data-type="other" data-key="x">')
  expect(snippets.pixelTag(of('/a'))).toBe(
    '<img src="https://example.com/c/hit.gif?key=%2Fa&amp;type=page_view" alt="">',
  )
  expect(snippets.countElement(of('/a', 'other'))).toBe('<b data-counter="/a" data-type="other">…</b> views')
})

it('A request of a program is one line for a shell, with any key', () => {
  expect(snippets.request(of("it's $(a)", 'download'))).toBe(
    "curl -X POST 'https://example.com/c/v1/counters/download/it%27s%20%24%28a%29'" +
      ` -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"by":1}'`,
  )
})

it.each([
  ['v1/app 1.zip', '<a href="https://example.com/c/d/download/v1/app%201.zip">Download</a>'],
  ['/app.zip', null],
  ['a//b', null],
  ['a/../b', null],
  ['', null],
  ['a\\b', null],
  ['a\nb', null],
])('The link for downloads of %j is %s', (key, link) => {
  expect(snippets.downloadLink(of(key, 'download'))).toBe(link)
})
