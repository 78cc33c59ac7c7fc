import * as z from 'zod/mini'
import { DaySums } from './day-sums.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import type { ImportRow } from './import-rows.ts'
import { LineError } from './line-error.ts'
import type { LeftOut, TakenOver } from './taken-over.ts'

/** The longest file, in characters. A release with a hundred files has about 150,000. */
const MAX_CHARACTERS = 256 * 1024 * 1024

const release = z.object({
  tag_name: z.string({ error: 'must be a text' }),
  draft: z.optional(z.boolean({ error: 'must be true or false' })),
  assets: z.array(
    z.object({
      name: z.string({ error: 'must be a text' }),
      download_count: z.int({ error: 'must be a whole number' }).check(z.minimum(0, 'must not be below zero')),
    }),
    { error: 'must be a list' },
  ),
})

/**
 * Reads what GitHub's API answers to `GET /repos/OWNER/REPO/releases`, also several pages in one list. The key of a file is
 * TAG/NAME, as in its address.
 *
 * @throws {LineError} if it is something else
 */
export async function* readGitHubReleases(
  chunks: AsyncIterable<Buffer>,
  { type, prefix }: TakenOver,
  leftOut: LeftOut,
): AsyncGenerator<ImportRow> {
  let text = ''
  for await (const part of decodeUtf8(chunks)) {
    text += part
    if (text.length > MAX_CHARACTERS) throw new LineError(null, `the file has more than ${MAX_CHARACTERS} characters`)
  }
  const sums = new DaySums()
  for (const [at, found] of pagesIn(text).flat(2).entries()) {
    const { success, data, error } = release.safeParse(found)
    if (!success) {
      const [{ path, message }] = error.issues as [z.core.$ZodIssue]
      throw new LineError(null, `release ${at + 1} of the file: ${path.join('.') || 'this'} ${message}`)
    }
    const { tag_name: tag, draft = false, assets } = data
    for (const { name, download_count: count } of assets) {
      if (draft) leftOut.set('files of drafts', (leftOut.get('files of drafts') ?? 0) + 1)
      else sums.add({ line: 1, type, key: `${prefix}${tag}/${name}`, count: BigInt(count) })
    }
  }
  yield* sums.rows()
}

function pagesIn(text: string): unknown[] {
  try {
    const pages: unknown = JSON.parse(text)
    if (Array.isArray(pages)) return pages
  } catch {
    // Reported below.
  }
  throw new LineError(null, "this is not a list in JSON, as GitHub's API answers to /repos/OWNER/REPO/releases")
}
