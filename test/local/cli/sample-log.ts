import { readFileSync } from 'node:fs'

/** Generates a log in combined format with all that real logs have: queries, escapes, rare methods, half lines. */
export function generateAccessLog(lines: number): string {
  // A linear congruential generator (Numerical Recipes): the same log in every run.
  let state = 42
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const agents = ['Mozilla/5.0 (X11; Linux x86_64)', 'curl/8.0', 'A \\"quoted\\" agent', '-']
  const paths = [
    ...Array.from({ length: 6_000 }, (_, i) => `/blog/post-${i}.html`),
    ...Array.from({ length: 40 }, (_, i) => `/files/tool-${i}.tar.gz`),
    '/',
    '/caf%C3%A9',
    '/a%20b',
    '/x?y=1',
    '/x?y=2',
    '/q#f',
    '/it\\"s',
    '/tab\\x09',
    '/%00',
    `/${'long'.repeat(200)}`,
  ]
  const log = Array.from({ length: lines }, (_, i) => {
    // A few paths get most of the hits.
    const path = paths[Math.min(random(paths.length), random(paths.length), random(paths.length))]
    const method = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'][random(6)]
    const status = [200, 200, 200, 304, 206, 404][random(6)]
    const second = String(i % 60).padStart(2, '0')
    return `192.0.2.${random(256)} - - [20/Nov/2026:10:00:${second} +0000] "${method} ${path} HTTP/1.1" ${status} ${random(9999)} "-" "${agents[random(4)]}"`
  })
  log.splice(100, 0, '', 'not a request', '192.0.2.1 - - [20/Nov/2026:10:00:00 +0000] "-" 408 0 "-" "-"')
  return `${log.join('\n')}\n192.0.2.1 - - [20/Nov/2026:10:00:00 +0000] "GET /cut-o`
}

/** The log to test with: the file of ACCESS_LOG, else a generated log. */
export function accessLog(): string {
  const file = process.env.ACCESS_LOG
  return file ? readFileSync(file, 'utf8') : generateAccessLog(12_000)
}

/** Escapes that are not UTF-8 stay as they are. */
function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes
  }
}

/** Counts the paths of a log in the simplest way, to check the product's counts. They are spelled as people read them. */
export function countPaths(log: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of log.split('\n')) {
    const start = line.indexOf('"')
    const end = /(?<!\\)"/.exec(line.slice(start + 1))?.index ?? -1
    const words = start < 0 || end < 0 ? [] : line.slice(start + 1, start + 1 + end).split(' ')
    // A line with an odd number of quotation marks was cut.
    const isCut = (line.match(/(?<!\\)"/g) ?? []).length % 2 === 1
    if (words.length < 2 || isCut) continue
    const path = words[1]!.split('?')[0]!.split('#')[0]!.replaceAll('\\"', '"').replaceAll('\\x09', '\t')
    const spelled = path.replace(/(?:%(?!2f|3f|23|25|[01]|7f)[0-9a-f]{2})+/gi, decoded)
    counts.set(spelled, (counts.get(spelled) ?? 0) + 1)
  }
  return counts
}
