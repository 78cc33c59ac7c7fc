import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { readAssets, writeAssets } from '../../../cli/assets/asset-files.ts'
import { PROJECT } from '../../../local/project-root.ts'

const PUBLIC = join(PROJECT, 'dist/public')
/** Limits of the platform for `_headers`: rules, and characters of a line. */
const MAX_RULES = 100
const MAX_LINE = 2_000

describe('The files that browsers load', () => {
  it('have headers within the limits of the platform', async () => {
    const lines = (await readFile(join(PUBLIC, '_headers'), 'utf8')).split('\n')
    expect(lines.filter((line) => line.startsWith('/')).length).toBeLessThan(MAX_RULES / 2)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(MAX_LINE)
  })
})

describe('In a folder with files of others', () => {
  const read = (directory: string, path: string) => readFile(join(directory, path), 'utf8')

  it('they are served under a base path, and the other files and rules stay', async () => {
    const directory = join(inject('scratch'), 'assets-of-others')
    await mkdir(join(directory, 'counter/dashboard'), { recursive: true })
    await writeFile(join(directory, 'counter/dashboard/app-00000000.js'), 'theirs')
    await writeFile(join(directory, '_headers'), '/theirs\n  X-Theirs: yes')
    const files = await readAssets(PUBLIC)
    await writeAssets(files, directory, '/other')
    for (let i = 0; i < 2; i++) await writeAssets(files, directory, '/counter')

    for (const path of files.keys()) {
      if (path !== '_headers' && path !== 'openapi.json')
        expect(await read(directory, `counter/${path}`)).toBe(files.get(path))
    }
    expect(await read(directory, 'counter/dashboard/app-00000000.js')).toBe('theirs')
    const rules = (await read(directory, '_headers')).split('\n')
    expect(rules.slice(0, 2)).toEqual(['/theirs', '  X-Theirs: yes'])
    const paths = files.get('_headers')!.match(/^\/.*/gm)!
    expect(rules.filter((line) => line.startsWith('/'))).toEqual([
      '/theirs',
      ...['/other', '/counter'].flatMap((base) => paths.map((path) => `${base}${path}`)),
    ])
    const { servers, ...rest } = JSON.parse(await read(directory, 'counter/openapi.json'))
    expect([servers[0].url, rest.components.securitySchemes.session.name]).toEqual([
      '/counter',
      '__Host-session.counter',
    ])
    rest.components.securitySchemes.session.name = '__Host-session'
    expect({ servers: [{ ...servers[0], url: '/' }], ...rest }).toEqual(JSON.parse(files.get('openapi.json')!))
  })

  it('those of the version before are replaced', async () => {
    const directory = join(inject('scratch'), 'assets-of-two-versions')
    const before = [
      ['_headers', '/old\n  A: b\n'] as const,
      ['dashboard/slotted-counter-000000000000.js', 'old'] as const,
    ]
    await writeAssets(new Map(before), directory, '/counter')
    const files = await readAssets(PUBLIC)
    await writeAssets(files, directory, '/counter')
    expect(await read(directory, '_headers')).not.toContain('/old')
    await expect(stat(join(directory, 'counter/dashboard/slotted-counter-000000000000.js'))).rejects.toThrow('ENOENT')
  })
})
