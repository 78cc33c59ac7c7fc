import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const text = (path: string) => readFileSync(join(root, path), 'utf8')

const sources = globSync('src/**/*.ts', { cwd: root }).filter((path) => !path.startsWith('src/browser/'))
/** Where the table of events stands. */
const documents = ['README.md', ...globSync('notes/*.md', { cwd: root })]

describe('the table of log events', () => {
  it('has every event of the source, and no other', () => {
    const logged = sources.flatMap((path) =>
      [...text(path).matchAll(/\blog\([^,()]+,\s*'(\w+)'/g)].map(([, event]) => event!),
    )
    // Answers that are our own fault are logged under their code (src/problem.ts, logFailure).
    const ownFault = [...text('src/problem.ts').matchAll(/^ {2}(\w+): \{ status: 5\d\d/gm)].map(([, code]) => code!)
    expect(logged.length).toBeGreaterThan(10)
    expect(ownFault.length).toBeGreaterThan(4)
    const tables = documents.flatMap((path) => {
      const [, table = ''] = /^\| event \|.*\n\|[ |-]*\n((?:\|.*\n)+)/m.exec(text(path)) ?? []
      return table.split('\n').map((row) => row.split('|')[1] ?? '')
    })
    const listed = tables.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, event]) => event!))
    expect(listed.sort()).toEqual([...new Set([...logged, ...ownFault])].sort())
  })

  it('is of all that is logged: every line goes through log(), with its level and event spelled out', () => {
    for (const path of sources) {
      if (path !== 'src/log.ts') expect({ path, logs: /\bconsole\b/.test(text(path)) }).toEqual({ path, logs: false })
      const calls = [...text(path).matchAll(/(?<!function )\blog\(([^)]*)/g)].map(([, begin]) => begin!)
      for (const begin of calls) {
        // A level may be chosen; the code of a problem is an event too.
        const spelled = /^\s*('\w+'|[^,]+ \? '\w+' : '\w+'),\s*('\w+'|problem\.code),/.test(begin)
        expect({ path, begin, spelled }).toMatchObject({ spelled: true })
      }
    }
  })
})
