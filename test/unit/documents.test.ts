import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workerFiles } from '../../cli/init/worker-files.ts'
import { PROJECT } from '../../local/project-root.ts'
import { contracts } from '../../scripts/openapi/contracts.ts'
import { HIT_REASONS } from '../../src/hit-reasons.ts'
import { FINDING_CODES } from '../../src/service/status.ts'
import { parseOpenMetrics } from '../harness/open-metrics.ts'

const DOCUMENTS = ['*.md', 'docs/**/*.md', 'bench/*.md'].flatMap((pattern) => globSync(pattern, { cwd: PROJECT }))
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    const broken: string[] = []
    let links = 0
    for (const path of DOCUMENTS) {
      const text = read(path).replace(/```[\s\S]*?```/g, '')
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue
        links++
        const [file = '', anchor] = target!.split('#')
        const linked = file === '' ? path : join(dirname(path), file)
        const exists = existsSync(join(PROJECT, linked))
        if (!exists || (anchor !== undefined && !anchorsOf(linked).includes(anchor))) broken.push(`${path}: ${target}`)
      }
    }
    expect(links).toBeGreaterThan(50)
    expect(broken).toEqual([])
  })

  it('give the cause of every reason of X-Hit that is no problem, in docs/usage.md and in its words', () => {
    const [, table = ''] = /### Why a hit did not count\n(.*?)\n## /s.exec(read('docs/usage.md')) ?? []
    const listed = [...table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, reason, cell]) => [
      reason,
      cell!.replace(/\[(.*?)\]\(.*?\)/g, '$1').replaceAll('`', ''),
    ])
    const causes = Object.entries(HIT_REASONS).map(([reason, { cause }]) => [reason, cause.replaceAll('’', "'")])
    expect(listed).toEqual(causes)
  })

  it('list every problem of the status and every metric, and use no other in the rules, in docs/operating.md', () => {
    const text = read('docs/operating.md')
    const [, status = '', metrics = ''] = /^## Status\n(.*?)^## Metrics\n(.*?)^### /ms.exec(text) ?? []
    const [, table = ''] = /^\| code \|.*\n\|[ |-]*\n((?:\|.*\n)+)/m.exec(status) ?? []
    const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
    const codes = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code!))
    expect(codes.toSorted()).toEqual([...FINDING_CODES].sort())
    const { examples } = contracts().find(({ id }) => id === 'metrics')!
    const families = parseOpenMetrics(examples.metrics!.answer as string).map(({ name }) => name)
    const listed = [...metrics.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    expect(listed).toEqual(families)
    const used = [...metrics.matchAll(/^ +expr: .*?(slotted_counter_\w+)/gm)].map(([, name]) => name)
    expect(used.length).toBeGreaterThan(1)
    expect(families).toEqual(expect.arrayContaining(used))
  })

  it('name npm scripts that exist, here or in a Worker that init writes', async () => {
    const written = await workerFiles({ name: 'mine', sites: 'https://blog.example', downloads: '', plan: 'free' }, '')
    const scripts = [read('package.json'), written.get('package.json')!].flatMap((text) =>
      Object.keys((JSON.parse(text) as { scripts: object }).scripts),
    )
    const named = DOCUMENTS.flatMap((path) =>
      [...read(path).matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, script]) => ({ path, script: script! })),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ script }) => !scripts.includes(script))).toEqual([])
  })
})
