import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROBLEMS } from '../../src/service/problem.ts'

const root = join(import.meta.dirname, '../..')
const text = (path: string) => readFileSync(join(root, path), 'utf8')

const sources = globSync('src/**/*.ts', { cwd: root }).filter((path) => !path.startsWith('src/browser/'))

describe('the table of log events in docs/operating.md', () => {
  it('lists every event that the source logs, and no other', () => {
    const logged = sources.flatMap((path) =>
      [...text(path).matchAll(/\blog\([^,()]+,\s*'(\w+)'/g)].map(([, event]) => event!),
    )
    // Answers with a status of 500 and above are logged under their code (`reported` in src/http/problem-response.ts).
    const ownFault = Object.entries(PROBLEMS).flatMap(([code, { status }]) => (status >= 500 ? [code] : []))
    expect(logged.length).toBeGreaterThan(10)
    const [, table = ''] = /^\| event \|.*\n\|[ |-]*\n((?:\|.*\n)+)/m.exec(text('docs/operating.md')) ?? []
    const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, event]) => event!))
    expect(listed.sort()).toEqual([...new Set([...logged, ...ownFault])].sort())
  })

  it('is followed by every event of `serve`', () => {
    const own = globSync('local/serve/*.ts', { cwd: root }).map(text).join()
    const logged = [...own.matchAll(/\blog\([^,()]+,\s*'(\w+)'|"event":"(\w+)"/g)].map(
      ([, event, output]) => event ?? output!,
    )
    const [, section = ''] = /^\[On one machine\](.*?)\n\n/ms.exec(text('docs/operating.md')) ?? []
    const listed = [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    expect(listed.sort()).toEqual([...new Set([...logged, 'time', 'level', 'message'])].sort())
  })

  it('is complete: every line is logged with log(), and names its level and event in the source', () => {
    for (const path of sources) {
      if (path !== 'src/log.ts') expect({ path, logs: /\bconsole\b/.test(text(path)) }).toEqual({ path, logs: false })
      const calls = [...text(path).matchAll(/(?<!function )\blog\(([^)]*)/g)].map(([, begin]) => begin!)
      for (const begin of calls) {
        // The level may depend on a condition, and the event may be the code of a problem.
        const spelled = /^\s*('\w+'|[^,]+ \? '\w+' : '\w+'),\s*('\w+'|problem\.code),/.test(begin)
        expect({ path, begin, spelled }).toMatchObject({ spelled: true })
      }
    }
  })
})
