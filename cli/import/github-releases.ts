import { numberDigits } from '../exact-json.ts'
import { countOf } from './cell-values.ts'
import type { DailyCounts } from './daily-counts.ts'
import type { InputText } from './input-text.ts'
import { LineError, quoted } from './line-error.ts'
import type { Mistakes } from './mistakes.ts'

/** The longest text. It is parsed at once. */
const MAX_CHARACTERS = 256 * 1024 * 1024
const SHORTER = "jq '[.[] | {tag_name, assets: [.assets[] | {name, download_count}]}]'"

/**
 * Reads the releases of a repository as GitHub's API lists them: an array, arrays that follow each other or stand in an
 * array (the pages of the list), or single releases. The key of a download is `TAG/NAME`, the end of its address on GitHub.
 *
 * @throws {LineError} at a text that is not JSON
 */
export async function readGitHubReleases({ pieces }: InputText, counts: DailyCounts, mistakes: Mistakes) {
  const texts: string[] = []
  let characters = 0
  for await (const text of pieces) {
    characters += text.length
    if (characters > MAX_CHARACTERS) {
      throw new LineError(1, `the file is longer than ${MAX_CHARACTERS} characters; shorten it with: ${SHORTER}`)
    }
    texts.push(text)
  }
  for (const { line, value } of parseJsonDocuments(texts.join(''))) {
    for (const release of [value].flat(2)) mistakes.try(() => addRelease(line, release, counts))
  }
}

function addRelease(line: number, release: unknown, counts: DailyCounts): void {
  const { tag_name: tag, assets, message } = membersOf(release)
  if (typeof tag !== 'string' || tag === '' || !Array.isArray(assets)) {
    const answer = typeof message === 'string' ? ` GitHub answered ${quoted(message)}.` : ''
    throw new LineError(line, `this is not a release with tag_name and assets.${answer}`)
  }
  for (const asset of assets) {
    const { name, download_count: downloads } = membersOf(asset)
    if (typeof name !== 'string' || name === '') {
      throw new LineError(line, `an asset of the release ${quoted(tag)} has no name`)
    }
    const count = countOf(line, `download_count of ${quoted(name)} of the release ${quoted(tag)}`, downloads)
    counts.add(line, 'name', `${tag}/${name}`, count)
  }
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/**
 * Parses JSON documents that follow each other, such as the pages of an answer.
 *
 * @returns each value with the line on which it begins; numbers are their digits
 * @throws {LineError} if one is not JSON
 */
function* parseJsonDocuments(text: string): Generator<{ line: number; value: unknown }> {
  let line = 1
  for (let at = 0; at < text.length; ) {
    const end = endOfDocument(text, at)
    const document = text.slice(at, end)
    const first = /\S/.exec(document)
    if (first !== null) {
      const begin = line + lineBreaks(document.slice(0, first.index))
      yield { line: begin, value: parse(document, begin) }
    }
    line += lineBreaks(document)
    at = end
  }
}

/** The end of the array or object that begins after `start`; the end of the text if it is not closed. */
function endOfDocument(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (inString) {
      if (character === '\\') at++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '[' || character === '{') depth++
    else if ((character === ']' || character === '}') && --depth <= 0) return at + 1
  }
  return text.length
}

function parse(document: string, line: number): unknown {
  try {
    return JSON.parse(document, numberDigits)
  } catch {
    throw new LineError(line, 'what begins here is not JSON, or it ends too early')
  }
}

function lineBreaks(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
