// `npm run check:layers`: refuses imports that layers.ts does not allow, and import cycles, of types too.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { PROJECT } from '../local/project-root.ts'
import { LAYERS, type Layer } from './layers.ts'

/** What code that Biome has formatted imports: at its beginning, or in place. TypeScript 7 has no stable parser for others. */
const IMPORTED = /^(?:import|export) (?:[^'"`]*? from )?'([^']+)'|import\(\s*'([^']+)'/gm

/** A room and the number of its line. */
interface Place {
  room: string
  line: number
  layer: Layer
}

const PLACES: Place[] = LAYERS.flatMap((layer, line) => layer.rooms.split(' ').map((room) => ({ room, line, layer })))
const PACKAGES = new Set(LAYERS.flatMap(({ packages }) => packages?.split(' ') ?? []))

/** What is wrong with the imports of files: a text for each problem. Takes the files' contents by path. */
export function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  const graph = new Map<string, string[]>()
  for (const [file, text] of files) {
    const place = placeOf(file)
    if (place === undefined) problems.push(`${file} is not listed in scripts/layers.ts`)
    const imported = [...text.matchAll(IMPORTED)].map(([, path, inPlace]) => path ?? inPlace!)
    const own = imported.filter((path) => path.startsWith('.')).map((path) => normalize(join(dirname(file), path)))
    graph.set(file, own)
    if (place === undefined) continue
    for (const path of own) {
      const to = placeOf(path)
      if (to !== undefined && !mayImport(place, to)) problems.push(`${file} must not import ${path}`)
    }
    if (!file.startsWith('src/')) continue
    for (const path of imported) {
      const name = /^(@[^/]+\/)?[^/]+/.exec(path)![0]
      const allowed = !PACKAGES.has(name) || place.layer.packages?.split(' ').includes(name)
      if (!allowed) problems.push(`${file} must not import ${path}`)
    }
  }
  const cycle = findCycle(graph)
  return cycle === null ? problems : [...problems, `import cycle: ${cycle.join(' → ')}`]
}

function placeOf(path: string): Place | undefined {
  const matching = PLACES.filter(({ room }) => path === room || path.startsWith(`${room}/`))
  return matching.sort((a, b) => b.room.length - a.room.length)[0]
}

function mayImport(from: Place, to: Place): boolean {
  const only = from.layer.only?.split(' ')
  return from.room === to.room || (from.line < to.line && (only === undefined || only.includes(to.room)))
}

function findCycle(graph: ReadonlyMap<string, string[]>): string[] | null {
  const done = new Set<string>()
  const walk = (file: string, path: string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return null
    for (const next of graph.get(file) ?? []) {
      const found = walk(next, [...path, file])
      if (found !== null) return found
    }
    done.add(file)
    return null
  }
  for (const file of graph.keys()) {
    const found = walk(file, [])
    if (found !== null) return found
  }
  return null
}

if (import.meta.main) {
  const paths = globSync('{.ci,bench,cli,local,scripts,src,test}/**/*.ts', {
    cwd: PROJECT,
    exclude: ['**/node_modules'],
  })
  const problems = problemsOf(new Map(paths.map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')])))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
