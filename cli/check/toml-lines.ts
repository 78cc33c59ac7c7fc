import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'

/** A TOML file: what it says, and on which lines. */
export interface TomlFile {
  value: Record<string, unknown>
  /** The line of a setting, or of the closest table around it that is written down; 1 for the file. */
  lineOf(path: readonly string[]): number
}

/** Text that is not TOML, or has a name that is not allowed. */
export class TomlSyntaxError extends Error {
  readonly line: number
  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

const SEPARATOR = '\0'

/** @throws {TomlSyntaxError} */
export function readToml(text: string): TomlFile {
  try {
    const program = parseTOML(text)
    const lines = new Map<string, number>()
    noteLines(program.body[0], [], lines)
    return {
      value: getStaticTOMLValue(program) as Record<string, unknown>,
      lineOf(path) {
        for (let length = path.length; length > 0; length--) {
          const line = lines.get(path.slice(0, length).join(SEPARATOR))
          if (line !== undefined) return line
        }
        return 1
      },
    }
  } catch (error) {
    if (error instanceof ParseError) throw new TomlSyntaxError(`this is not TOML: ${error.message}`, error.lineNumber)
    throw error
  }
}

/** Notes the line of each part of a file by its path. @param path of the node itself, or of what it is in */
function noteLines(node: AST.TOMLNode, path: readonly string[], lines: Map<string, number>): void {
  const note = (whole: readonly string[]) => {
    // An object that has it as a member has another prototype instead.
    if (whole.includes('__proto__')) throw new TomlSyntaxError('the name __proto__ is not allowed', node.loc.start.line)
    // The tables around it may have no line of their own, and a table may be continued further down.
    for (const [i] of whole.entries()) {
      const id = whole.slice(0, i + 1).join(SEPARATOR)
      if (!lines.has(id)) lines.set(id, node.loc.start.line)
    }
  }
  switch (node.type) {
    case 'TOMLTopLevelTable':
    case 'TOMLInlineTable':
      for (const part of node.body) noteLines(part, path, lines)
      return
    case 'TOMLTable': {
      const table = node.resolvedKey.map(String)
      note(table)
      for (const part of node.body) noteLines(part, table, lines)
      return
    }
    case 'TOMLKeyValue': {
      const own = [...path, ...node.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))]
      note(own)
      noteLines(node.value, own, lines)
      return
    }
    case 'TOMLArray':
      for (const [i, element] of node.elements.entries()) {
        lines.set([...path, String(i)].join(SEPARATOR), element.loc.start.line)
        noteLines(element, [...path, String(i)], lines)
      }
  }
}
