import { MAX_KEY_BYTES, pageKey, withoutSession } from '../../src/counters/keys/key-address.ts'
import { Bots } from '../../src/visits/bots.ts'
import { destinationOf } from '../../src/visits/download.ts'
import type { LoggedRequest, Skip } from './log-line.ts'

/** Paths that are downloads by default: archives, packages, disk images, documents, audio and video. */
export const DOWNLOADS = new RegExp(
  `\\.(?:${[
    'zip|tar|tgz|tbz2?|txz|tzst|gz|bz2|xz|zst|lz4?|lzma|br|7z|rar',
    'jar|war|ear|whl|egg|gem|crate|nupkg|conda|pyz|vsix|xpi|crx|oxt|phar|deb|rpm|apks?|xapk|aab|ipa|m?pkg|xbps',
    'exe|msi|msix|msixbundle|appx|appxbundle|appinstaller|cab|appimage|flatpak|flatpakref|snap|run|bin',
    'dmg|iso|img|ova|ovf|qcow2|vmdk|vhdx?|vdi|wim|uf2|hex|dfu|gguf|safetensors|onnx|torrent',
    'pdf|epub|mobi|azw3|djvu|docx?|xlsx?|pptx?|od[tsp]|csv',
    'mp3|m4[abv]|aac|flac|og[agv]|opus|wav|mp4|mkv|mov|avi|webm',
  ].join('|')})$`,
  'i',
)

/** Paths of what pages, readers and crawlers load, and which is no page. */
const FILES_OF_PAGES =
  /\.(?:a?png|jpe?g|gif|webp|avif|jxl|svgz?|ico|cur|bmp|tiff?|heic|css|[mc]?js|map|wasm|json|webmanifest|swf|woff2?|ttf|otf|eot|xml|xslt?|rss|atom|txt|log|vtt|m3u8|ts)$/i

/** What belongs to downloads: checksums, signatures, and what updaters read to learn of a new version. */
const BESIDE_DOWNLOADS =
  /\.(?:sha\d+(?:sums?)?|md5(?:sums?)?|b[23]|asc|sig|sign|minisig|gpg|p7s|sigstore|pem|crt|cer|zsync|blockmap|delta|metalink|meta4|ya?ml|plist|jsonl|sbom|spdx)$/i
/** Such files without an ending. In small letters, `/md5sum` and `/releases` are pages. */
const NAMED_BESIDE_DOWNLOADS = /[/._-](?:(?:SHA\d*|MD5|B2|CHECK)SUMS?\d*|(?:sha\d+|md5|b2)sums|RELEASES|InRelease)$/

/** Which requests of a log count, and as what. */
export interface ReplayRules {
  pageType: string
  downloadType: string
  /** Matches the paths that are downloads. */
  downloads: RegExp
  /** Counts every request that has a path. Otherwise those that the Worker would have counted. */
  all: boolean
  keepQuery: boolean
  /** Counts requests on the days on which they were made, rather than now. Absent if not wanted. */
  dated?: true
}

const bots = new Bots()

/** Decides which counter a logged request belongs to, or why it is skipped. */
export function classifyRequest(
  request: LoggedRequest,
  rules: ReplayRules,
): { type: string; key: string; day?: string } | Skip {
  const { path, query } = partsOf(request.target)
  if (!path.startsWith('/') || path.includes('\0')) return { skip: 'no path' }
  // Java servers append parameters: /app.zip;jsessionid=1
  const parameters = path.indexOf(';', path.lastIndexOf('/'))
  const file = parameters === -1 ? path : path.slice(0, parameters)
  const isDownload = rules.downloads.test(file)
  const reason = rules.all ? null : reasonToSkip(request, file, isDownload)
  if (reason !== null) return { skip: reason }
  const kept = rules.keepQuery ? query : ''
  const download = isDownload ? downloadKey(path) : ''
  if (download === null) return { skip: 'no path' }
  const key = isDownload ? download + kept : pageKey(path + kept)
  // JSON can hold lone surrogates; a request cannot.
  if (!key.isWellFormed()) return { skip: 'path is not Unicode' }
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return { skip: `path longer than ${MAX_KEY_BYTES} bytes` }
  const type = isDownload ? rules.downloadType : rules.pageType
  if (rules.dated === undefined) return { type, key }
  const { day } = request
  if (day === null) return { skip: 'without a time' }
  if (day > new Date().toISOString().slice(0, 10)) return { skip: 'in the future' }
  return { type, key, day }
}

/** The path of a request's target, which proxies and HTTP/2 may log as a URL, and what follows it. */
function partsOf(target: string): { path: string; query: string } {
  const [, origin, path = '', query = ''] = /^(https?:\/\/[^/?#]*)?([^?#]*)(.*)$/is.exec(target) ?? []
  return { path: origin !== undefined && path === '' ? '/' : path, query }
}

/** Why the Worker would not have counted a request. A log does not tell which part of a file was asked for, nor who asks twice. */
function reasonToSkip({ method, status, agent }: LoggedRequest, file: string, isDownload: boolean): string | null {
  if (method === 'HEAD') return 'HEAD'
  if (method !== 'GET') return 'other methods'
  if (status === 206) return 'parts of files'
  // 304: the visitor has the page from an earlier visit.
  if (!(status >= 200 && status <= 299) && status !== 304) return 'failed or redirected'
  if (!isDownload && FILES_OF_PAGES.test(file)) return 'files of pages'
  if (!isDownload && (BESIDE_DOWNLOADS.test(file) || NAMED_BESIDE_DOWNLOADS.test(file)))
    return 'checksums and manifests'
  return bots.has(agent ?? '', isDownload ? 'download' : 'page') ? 'bots' : null
}

/** The key under which `/d` would count a path; `null` if it would refuse it. */
function downloadKey(path: string): string | null {
  try {
    const decoded = withoutSession(decodeURIComponent(path.slice(1)))
    return destinationOf('/', decoded) === null ? null : decoded.normalize()
  } catch {
    return null
  }
}
