import { visibleKey } from '../../src/visible-key.ts'
import type { DailyCounts } from './daily-counts.ts'
import { decodeText } from './decoded-text.ts'
import { isCount } from './import-row.ts'
import { parseJsonDocuments } from './json-documents.ts'
import { LineError } from './line-error.ts'

/** The longest text. It is parsed at once. */
const MAX_CHARACTERS = 256 * 1024 * 1024
const SHORTER = "jq '[.[] | {tag_name, assets: [.assets[] | {name, download_count}]}]'"

/**
 * Reads the releases of a repository as GitHub's API lists them: an array, arrays that follow each other or stand in an
 * array (the pages of the list), or single releases. The key of a download is `TAG/NAME`, the end of its address on GitHub.
 *
 * @throws {LineError} at the first release that is wrong
 */
export async function readGitHubReleases(chunks: AsyncIterable<Buffer>, counts: DailyCounts): Promise<void> {
  const texts: string[] = []
  let characters = 0
  for await (const text of decodeText(chunks)) {
    characters += text.length
    if (characters > MAX_CHARACTERS) {
      throw new LineError(1, `the file is longer than ${MAX_CHARACTERS} characters; shorten it with: ${SHORTER}`)
    }
    texts.push(text)
  }
  for (const { line, value } of parseJsonDocuments(texts.join(''))) {
    for (const release of [value].flat(2)) addRelease(line, release, counts)
  }
}

function addRelease(line: number, release: unknown, counts: DailyCounts): void {
  const { tag_name: tag, assets, message } = membersOf(release)
  if (typeof tag !== 'string' || tag === '' || !Array.isArray(assets)) {
    const answer = typeof message === 'string' ? ` GitHub answered ${quote(message)}.` : ''
    throw new LineError(line, `this is not a release with tag_name and assets.${answer}`)
  }
  for (const asset of assets) {
    const { name, download_count: downloads } = membersOf(asset)
    if (typeof name !== 'string' || name === '') {
      throw new LineError(line, `an asset of the release ${quote(tag)} has no name`)
    }
    const count = /^\d{1,19}$/.test(String(downloads)) ? BigInt(String(downloads)) : null
    if (count === null || !isCount(count)) {
      const where = `${quote(name)} of the release ${quote(tag)}`
      throw new LineError(line, `download_count of ${where} must be a whole number within 64 bits`)
    }
    counts.add(line, 'name', `${tag}/${name}`, count)
  }
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Strangers choose the text: no line breaks or escapes for the terminal. */
function quote(text: string): string {
  return `"${visibleKey(text.slice(0, 100))}"`
}
