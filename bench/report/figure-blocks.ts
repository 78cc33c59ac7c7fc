const END = '<!-- /figures -->'
const beginOf = (block: string) => `<!-- figures: ${block}, written by npm run bench -- --render -->`

/** Text of Markdown by the name of its block; `null` if its figures were not measured. */
export type FigureBlocks = Record<string, string | null>

/**
 * Puts figures into a document, each block between its markers. Blocks whose figures were not measured stay as they are.
 *
 * @param path of the document, for errors
 * @throws {Error} if a marker is missing
 */
export function putFigures(document: string, path: string, blocks: FigureBlocks): string {
  let text = document
  for (const [name, figures] of Object.entries(blocks)) {
    const [before, rest] = text.split(beginOf(name))
    const end = rest?.indexOf(END) ?? -1
    if (rest === undefined || end < 0)
      throw new Error(`${path} lacks the markers for figures: ${beginOf(name)} … ${END}`)
    if (figures !== null) text = `${before}${beginOf(name)}\n\n${figures.trimEnd()}\n\n${rest.slice(end)}`
  }
  return text
}
