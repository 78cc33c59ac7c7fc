import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Asset } from '../src/dashboard/assets.ts'

const DASHBOARD = resolve(import.meta.dirname, '../src/dashboard')
const ASSETS = join(DASHBOARD, 'assets.json')

/** What the Worker serves to the dashboard's pages. */
export interface Assets {
  script: Asset
  style: Asset
}

/** Makes the dashboard's files out of their sources, the same from the same sources, libraries and esbuild. */
export async function buildDashboard(): Promise<Assets> {
  const bundle = async (entry: string) => {
    const { outputFiles } = await build({
      entryPoints: [join(DASHBOARD, entry)],
      bundle: true,
      minify: true,
      format: 'esm',
      // Browsers since 2022: with <dialog>, modules and the newer parts of Intl.
      target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
      legalComments: 'eof',
      write: false,
    })
    return outputFiles[0]!.text
  }
  return {
    script: asset('js', 'text/javascript; charset=utf-8', await bundle('main.ts')),
    style: asset('css', 'text/css; charset=utf-8', await bundle('style.css')),
  }
}

function asset(extension: string, contentType: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { path: `/dashboard/${hash}.${extension}`, contentType, text }
}

/** The files as they are committed. */
export async function readDashboard(): Promise<Assets> {
  return JSON.parse(await readFile(ASSETS, 'utf8')) as Assets
}

/** Makes them anew, for committing. */
export async function writeDashboard(): Promise<Assets> {
  const assets = await buildDashboard()
  await writeFile(ASSETS, `${JSON.stringify(assets, null, 2)}\n`)
  return assets
}
