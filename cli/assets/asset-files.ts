import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { sessionCookie } from '../../src/http/cookies.ts'

/** Static assets: texts by their path in a folder, such as `slotted-1.0.0.js`. */
export type AssetFiles = ReadonlyMap<string, string>

/** The file with the rules for headers. Only the one at the top of a folder counts, so projects share it. */
const HEADERS = '_headers'

/** The marks around the rules of a counter: several may share a host, and so the file. */
function marks(basePath: string): { begin: string; end: string } {
  const counter = `# Slotted Counter${basePath === '' ? '' : ` at ${basePath}`}`
  return { begin: `${counter}: the rules down to the end mark are made by a command.`, end: `${counter}: end` }
}

export async function readAssets(directory: string): Promise<AssetFiles> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = paths.map(
    async (path) => [path.slice(join(directory, '/').length), await readFile(path, 'utf8')] as const,
  )
  return new Map(await Promise.all(files))
}

/**
 * Writes files into a folder of static assets, which may hold those of others too. Rules of others in `_headers` are kept.
 * @param basePath the path under which they are served: empty, or such as `/counter`
 */
export async function writeAssets(files: AssetFiles, directory: string, basePath = ''): Promise<void> {
  for (const [path, text] of files) {
    if (path === HEADERS) continue
    const file = join(directory, basePath, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, path === 'openapi.json' ? servedAt(text, basePath) : text)
  }
  await writeHeaders(join(directory, HEADERS), files.get(HEADERS)!.replaceAll(/^\//gm, `${basePath}/`), basePath)
  await removeOldDashboards(join(directory, basePath, 'dashboard'), files)
}

/** The OpenAPI document of a Worker under a base path, of which the session's cookie has its name. */
function servedAt(document: string, basePath: string): string {
  if (basePath === '') return document
  const { servers, ...rest } = JSON.parse(document) as { servers: { url: string }[] }
  const moved = JSON.stringify({ ...rest, servers: [{ ...servers[0], url: basePath }] })
  return moved.replaceAll(sessionCookie(''), sessionCookie(basePath))
}

async function writeHeaders(file: string, rules: string, basePath: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => '')
  const { begin, end } = marks(basePath)
  const at = before.indexOf(begin)
  const others = at < 0 ? before : before.slice(0, at) + before.slice(before.indexOf(end) + end.length + 1)
  const separated = others === '' || others.endsWith('\n') ? others : `${others}\n`
  await writeFile(file, `${separated}${begin}\n${rules}${end}\n`)
}

/** Removes the dashboard's files of other versions, which have other hashes in their names. */
async function removeOldDashboards(directory: string, files: AssetFiles): Promise<void> {
  const current = new Set([...files.keys()].map((path) => basename(path)))
  for (const name of await readdir(directory)) {
    if (/^slotted-counter-[\w-]{12}\.(js|css)$/.test(name) && !current.has(name)) await rm(join(directory, name))
  }
}
