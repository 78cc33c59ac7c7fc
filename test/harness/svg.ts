import { SaxesParser } from 'saxes'

/** An element of a parsed drawing: its name, attributes and own text. */
export interface SvgElement {
  name: string
  attributes: Record<string, string>
  text: string
  parent: SvgElement | null
}

/**
 * Parses a drawing as XML 1.0 with namespaces, strictly: characters, references, nesting, one root.
 *
 * @returns all elements, in the order in which they begin
 * @throws {Error} if the drawing is not well-formed
 */
export function parseSvg(source: string): SvgElement[] {
  const elements: SvgElement[] = []
  const open: SvgElement[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('opentag', ({ name, attributes }) => {
    const values = Object.entries(attributes).map(([name, { value }]) => [name, value])
    const element = { name, attributes: Object.fromEntries(values), text: '', parent: open.at(-1) ?? null }
    elements.push(element)
    open.push(element)
  })
  parser.on('text', (text) => {
    const last = open.at(-1)
    if (last !== undefined) last.text += text
  })
  parser.on('closetag', () => void open.pop())
  parser.write(source).close()
  return elements
}
