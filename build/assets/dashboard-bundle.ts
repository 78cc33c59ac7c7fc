import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROJECT } from '../../local/project-root.ts'

const DASHBOARD = join(PROJECT, 'src/browser/dashboard')

/** A file that the dashboard's pages load. */
export interface DashboardFile {
  /** The path contains the text's hash, so the file may be cached permanently. */
  path: string
  text: string
}

/** Builds the dashboard's files. The same sources, libraries and esbuild give the same files. */
export async function buildDashboard(): Promise<{ script: DashboardFile; style: DashboardFile }> {
  const bundle = async (entry: string) => {
    const { outputFiles } = await build({
      entryPoints: [join(DASHBOARD, entry)],
      bundle: true,
      minify: true,
      format: 'esm',
      // Browsers since 2022, which have <dialog>, modules and the newer parts of Intl.
      target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
      legalComments: 'eof',
      write: false,
    })
    return outputFiles[0]!.text
  }
  return {
    script: hashed('js', await bundle('entry.ts')),
    style: hashed('css', await bundle('style.css')),
  }
}

function hashed(extension: string, text: string): DashboardFile {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { path: `dashboard/slotted-counter-${hash}.${extension}`, text }
}
