import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Asset } from '../src/browser/dashboard/assets.ts'

const DASHBOARD = resolve(import.meta.dirname, '../src/browser/dashboard')
const ASSETS = join(DASHBOARD, 'assets.json')

/** The files that the Worker serves to the dashboard's pages. */
export interface Assets {
  script: Asset
  style: Asset
}

/** Builds the dashboard's files. The same sources, libraries and esbuild give the same files. */
export async function buildDashboard(): Promise<Assets> {
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
    script: asset('js', 'text/javascript; charset=utf-8', await bundle('entry.ts')),
    style: asset('css', 'text/css; charset=utf-8', await bundle('style.css')),
  }
}

function asset(extension: string, contentType: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { path: `/dashboard/${hash}.${extension}`, contentType, text }
}

/** Reads the files as they are committed. */
export async function readDashboard(): Promise<Assets> {
  return JSON.parse(await readFile(ASSETS, 'utf8')) as Assets
}

/** Builds the files and writes them, to be committed. */
export async function writeDashboard(): Promise<Assets> {
  const assets = await buildDashboard()
  await writeFile(ASSETS, `${JSON.stringify(assets, null, 2)}\n`)
  return assets
}
