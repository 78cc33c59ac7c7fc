import { describe, expect, it } from 'vitest'
import { classifyRequest, DOWNLOADS, type ReplayRules } from '../../../../cli/replay/replay-rules.ts'

const RULES: ReplayRules = {
  pageType: 'page_view',
  downloadType: 'download',
  downloads: DOWNLOADS,
  all: false,
  keepQuery: false,
}
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const ALL = { all: true }

const outcome = (target: string, rules: Partial<ReplayRules> = {}, request: object = {}) =>
  classifyRequest(
    { method: 'GET', target, status: 200, agent: BROWSER, day: '2026-11-01', text: '', ...request },
    { ...RULES, ...rules },
  )
const page = (key: string) => ({ type: 'page_view', key })
const download = (key: string) => ({ type: 'download', key })
const skip = (reason: string) => ({ skip: reason })

describe('The key of a logged request', () => {
  it.each([
    ['/a?b=c#d', '/a'],
    ['/a#b?c', '/a'],
    ['/a?', '/a'],
    ['/a?\nb', '/a'],
    ['/', '/'],
    ['/u/caf%C3%A9', '/u/café'],
    ['/u/caf%c3%a9', '/u/café'],
    ['/u/café', '/u/café'],
    ['/v/%7Euser', '/v/~user'],
    ['/a%2Fb%3Fc%23d%25', '/a%2Fb%3Fc%23d%25'],
    ['/a%20b', '/a b'],
    ['/%ff', '/%ff'],
    ['/tab\there', '/tab\there'],
    ['/a;jsessionid=1?x', '/a'],
    ['/cafe%CC%81', '/café'],
    [`/${';'.repeat(500)}/`, `/${';'.repeat(500)}/`],
    ['//a//', '//a//'],
    ['http://www.example.com/r', '/r'],
    ['https://www.example.com:443/r?x=1', '/r'],
    ['HTTP://user@[2001:db8::1]:8080/r#x', '/r'],
    ['http://example.com', '/'],
    ['http://example.com?x=/y', '/'],
    ['/http://example.com/r', '/http://example.com/r'],
  ])('of the page %j is its path as people read it: %j', (target, key) => {
    expect(outcome(target)).toEqual(page(key))
    expect(outcome(target, ALL)).toEqual(page(key))
  })

  it.each([
    ['/app-1.2.0.tgz', 'app-1.2.0.tgz'],
    ['/app.tgz?from=/', 'app.tgz'],
    ['/f/caf%C3%A9.zip', 'f/café.zip'],
    ['/f/50%25%3F.zip', 'f/50%?.zip'],
    ['http://dl.example.com/f/a.zip', 'f/a.zip'],
    ['/f/App.ZIP', 'f/App.ZIP'],
    ['/f/app.zip;v=1', 'f/app.zip;v=1'],
    ['/f;sid=2/app.zip;jsessionid=1', 'f/app.zip'],
    ['/cafe%CC%81.zip', 'café.zip'],
  ])('of the download %j is the one that /d gives: %j', (target, key) => {
    expect(outcome(target)).toEqual(download(key))
  })

  it.each([
    '//a.zip',
    '/a//b.zip',
    '/a/../b.zip',
    '/a%2F%2E%2E%2Fb.zip',
    '/a%5Cb.zip',
    '/a%00.zip',
    '/a%0a.zip',
    '/%ff.zip',
  ])('of %j is none, because /d refuses it', (target) => {
    expect(outcome(target)).toEqual(skip('no path'))
  })

  it.each(['*', '', '%.', 'example.org:443', '?q', '#top', 'a/b', '/\0', 'ftp://example.com/a'])(
    'is none without a path: %j',
    (target) => {
      expect(outcome(target)).toEqual(skip('no path'))
      expect(outcome(target, ALL)).toEqual(skip('no path'))
    },
  )

  it('has the query only if it is kept', () => {
    const kept = { keepQuery: true }
    expect(outcome('/page?file=app.tgz')).toEqual(page('/page'))
    expect(outcome('/%C3%B6?file=%C3%B6.tgz#d', kept)).toEqual(page('/ö?file=ö.tgz#d'))
    expect(outcome('http://h/a.tgz?b', kept)).toEqual(download('a.tgz?b'))
  })

  it('has up to 512 bytes, decoded', () => {
    const path = `/${'ö'.repeat(255)}a`
    expect(outcome(`${encodeURI(path)}?${'q'.repeat(2_000)}`)).toEqual(page(path))
    for (const target of [`/${'a'.repeat(512)}`, `/${'ö'.repeat(256)}`]) {
      expect(outcome(target, ALL)).toEqual(skip('path longer than 512 bytes'))
    }
    expect(outcome(`${path}?q`, { keepQuery: true })).toEqual(skip('path longer than 512 bytes'))
    expect(outcome('/\ud800')).toEqual(skip('path is not Unicode'))
  })
})

describe('A logged request', () => {
  it.each(
    'a.zip a.tar.br a.AppImage a.msix a.msixbundle a.dmg a.PKG a.deb a.rpm a.apk a.ipa a.xpi a.vsix a.nupkg a.whl a.crate a.flatpakref a.snap a.iso a.qcow2 a.pdf a.docx a.epub a.mp3 a.mp4 a.conda a.uf2 a.mpkg a.gguf a.safetensors'.split(
      ' ',
    ),
  )('for %s is a download', (file) => {
    expect(outcome(`/f/${file}`)).toEqual(download(`f/${file}`))
  })

  it.each(
    'app.tar.gz.sha256 a.SHA512 a.md5 a.md5sum a.zip.asc a.sig a.minisig a.AppImage.zsync a.exe.blockmap latest-mac.yml appcast.yaml SHA256SUMS tool_1.0_SHA256SUMS.72D7.sig MD5SUMS sha256sums RELEASES a.metalink'.split(
      ' ',
    ),
  )('for %s belongs to a download and does not count, unless all do', (file) => {
    expect(outcome(`/f/${file}?v=2`)).toEqual(skip('checksums and manifests'))
    expect(outcome(`/f/${file}?v=2`, ALL)).toEqual(page(`/f/${file}`))
  })

  it.each(
    '/a.zip/ /zip /releases /man/md5sum /checksums /sha256 /release-1.2.0 /a.html /a.php?x=a.zip /@user.name /a.zip;x/b'.split(
      ' ',
    ),
  )('for %s is a page', (path) => {
    expect(outcome(path)).toEqual(page(path.split('?')[0]!))
  })

  it.each(
    'a.png a.JPG a.svg a.webp favicon.ico a.css a.js a.mjs a.js.map a.woff2 manifest.webmanifest robots.txt sitemap.xml feed.atom api.json'.split(
      ' ',
    ),
  )('for %s is no page', (file) => {
    expect(outcome(`/f/${file}?v=2`)).toEqual(skip('files of pages'))
    expect(outcome(`/f/${file}?v=2`, ALL)).toEqual(page(`/f/${file}`))
  })

  it('counts in the given types, downloads by the given pattern', () => {
    const own = { pageType: 'p', downloadType: 'd', downloads: /^\/files\// }
    expect(outcome('/files/a.png?x', own)).toEqual({ type: 'd', key: 'files/a.png' })
    expect(outcome('/a.zip', own)).toEqual({ type: 'p', key: '/a.zip' })
  })

  it.each<[object, string]>([
    [{ method: 'HEAD' }, 'HEAD'],
    [{ method: 'POST' }, 'other methods'],
    [{ method: 'get' }, 'other methods'],
    [{ status: 206 }, 'parts of files'],
    [{ status: 301 }, 'failed or redirected'],
    [{ status: 404 }, 'failed or redirected'],
    [{ status: 499 }, 'failed or redirected'],
    [{ status: 0 }, 'failed or redirected'],
    [{ status: Number.NaN }, 'failed or redirected'],
    [{ agent: GOOGLE }, 'bots'],
    [{ agent: 'Uptime-Kuma/1.23.16' }, 'bots'],
  ])('with %j does not count, unless all do', (request, reason) => {
    for (const [target, counted] of [
      ['/a', page('/a')],
      ['/a.zip', download('a.zip')],
    ] as const) {
      expect(outcome(target, {}, request)).toEqual(skip(reason))
      expect(outcome(target, ALL, request)).toEqual(counted)
    }
  })

  it.each([{ status: 304 }, { status: 203 }, { agent: '' }, { agent: null }])('with %j counts', (request) => {
    expect(outcome('/a', {}, request)).toEqual(page('/a'))
    expect(outcome('/a.zip', {}, request)).toEqual(download('a.zip'))
  })

  it('by a program that fetches files counts as a download, and not as a page', () => {
    const agent = 'npm/11.6.1 node/v24.9.0 linux x64'
    expect(outcome('/a.tgz', {}, { agent })).toEqual(download('a.tgz'))
    expect(outcome('/a', {}, { agent })).toEqual(skip('bots'))
  })

  it('counts on its day with dated rules, but not without a day or on a day in the future', () => {
    const on = (day: string | null) => outcome('/a', { dated: true }, { day })
    expect(on('2026-11-01')).toEqual({ ...page('/a'), day: '2026-11-01' })
    expect(on(null)).toEqual(skip('without a time'))
    expect(on('2999-01-01')).toEqual(skip('in the future'))
  })
})
