import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROJECT } from '../../local/project-root.ts'

const BROWSER = join(PROJECT, 'src/browser')

/** A file that pages of the Worker load. */
export interface DashboardFile {
  /** The path contains the text's hash, so the file may be cached permanently. */
  path: string
  text: string
}

/** Builds the dashboard's files. The same sources, libraries and esbuild give the same files. */
export async function buildDashboard(): Promise<Record<'script' | 'counterScript' | 'style', DashboardFile>> {
  const script = await bundle('dashboard/pages.ts', 'js')
  // Pages of counters have no script of their own any more.
  return { script, counterScript: script, style: await bundle('dashboard/style.css', 'css') }
}

/** Builds the script of the documentation. */
export function buildReferenceScript(): Promise<DashboardFile> {
  return bundle('reference/reference.ts', 'js', 'iife')
}

async function bundle(entry: string, extension: 'js' | 'css', format: 'esm' | 'iife' = 'esm'): Promise<DashboardFile> {
  const { outputFiles } = await build({
    entryPoints: [join(BROWSER, entry)],
    bundle: true,
    minify: true,
    format,
    // Browsers since 2022, which have <dialog>, modules and the newer parts of Intl.
    target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
    legalComments: 'eof',
    write: false,
  })
  return hashed(extension, outputFiles[0]!.text)
}

function hashed(extension: string, text: string): DashboardFile {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { path: `dashboard/slotted-counter-${hash}.${extension}`, text }
}
