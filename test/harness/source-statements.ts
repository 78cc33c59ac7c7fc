/// <reference types="vite/types/importMeta.d.ts" />

/** By Vite, because these tests run in workerd, where there are no files. */
const SOURCES = import.meta.glob<string>('../../src/{counters,visits}/**/*.ts', {
  query: '?raw',
  import: 'default',
  eager: true,
})

const BEGINNING = /^\(*(?:SELECT|INSERT|UPDATE|DELETE|SHOW)\b/

/** A statement, or a part of one, as the source has it. */
export interface SourceStatement {
  path: string
  /** What it says between its values, in order, without blanks. */
  parts: readonly string[]
}

/** The SQL of counters and visits in the source: all texts that begin as statements do. */
export function sourceStatements(): SourceStatement[] {
  return Object.entries(SOURCES).flatMap(([path, source]) =>
    textsOf(source)
      .filter(([first]) => BEGINNING.test(first!.trim()))
      .map((parts) => ({
        path,
        parts: parts
          .map(withoutBlanks)
          .flatMap((part) => part.split('?'))
          .filter((part) => part !== ''),
      })),
  )
}

/** Whether a statement that was sent has all parts of one in the source, in order. */
export function isSent(sent: string, { parts }: SourceStatement): boolean {
  let from = 0
  for (const part of parts) {
    const at = sent.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}

/** A statement without comments and blanks, to be compared. */
export function withoutBlanks(sql: string): string {
  return sql.replace(/\/\*.*?\*\//g, '').replace(/\s+/g, '')
}

/** The strings and templates of a source, each in the parts that its values separate. */
function textsOf(source: string): string[][] {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
  const texts: string[][] = []
  for (const [, text] of code.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)) texts.push([text!])
  readTemplates(code, 0, texts)
  return texts
}

/** Reads templates from a place on, to the end of the expression that it begins in; returns the place after that. */
function readTemplates(code: string, begin: number, texts: string[][]): number {
  let depth = 0
  for (let at = begin; at < code.length; at++) {
    if (code[at] === '`') at = readTemplate(code, at + 1, texts)
    else if (code[at] === '{') depth++
    else if (code[at] === '}' && depth-- === 0 && begin > 0) return at
  }
  return code.length
}

/** Reads a template from after its first backtick; returns the place of its last one. */
function readTemplate(code: string, begin: number, texts: string[][]): number {
  const parts = ['']
  for (let at = begin; at < code.length; at++) {
    if (code[at] === '`') {
      texts.push(parts)
      return at
    }
    if (code[at] === '$' && code[at + 1] === '{') {
      at = readTemplates(code, at + 2, texts)
      parts.push('')
    } else parts[parts.length - 1] += code[at]!
  }
  return code.length
}
