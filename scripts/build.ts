// `npm run build`: makes what is not in git. Writes a file only if its content has changed.
//
//   src/generated.ts   what the Worker knows of the files below, of migrations/ and of package.json
//   dist/public/       the files that browsers load
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { readMigrations } from '../cli/migrate/migrations-folder.ts'
import { PROJECT } from '../local/project-root.ts'
import vschema from '../migrations/vschema.json' with { type: 'json' }
import packageJson from '../package.json' with { type: 'json' }
import { buildDashboard } from './assets/dashboard-bundle.ts'

const PUBLIC = 'dist/public'

const written: string[] = []

const { script, style } = await buildDashboard()
await write(
  'src/generated.ts',
  `// Made by \`npm run build\`.
export const VERSION = '${packageJson.version}'
/** The files of the dashboard. Their names contain a hash of their contents. */
export const SCRIPT = '/${script.path}'
export const STYLE = '/${style.path}'
/** The tables in migrations/vschema.json. */
export const TABLES = ${JSON.stringify(Object.keys(vschema.tables), null, 2)}
/** The files of migrations/. */
export const MIGRATIONS = ${JSON.stringify(await readMigrations(), null, 2)}
`,
)
await writePublic()
if (written.length > 0) console.log(`Wrote ${written.join(', ')}`)

async function writePublic(): Promise<void> {
  // Only now: it imports the Worker, and so src/generated.ts.
  const { buildAssets } = await import('./assets/assets.ts')
  const files = await buildAssets([script, style])
  for (const [path, text] of files) await write(join(PUBLIC, path), text)
  for (const entry of await readdir(join(PROJECT, PUBLIC), { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && !files.has(relative(join(PROJECT, PUBLIC), file))) await rm(file)
  }
}

async function write(path: string, text: string): Promise<void> {
  const file = join(PROJECT, path)
  if ((await readFile(file, 'utf8').catch(() => null)) === text) return
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  written.push(path)
}
