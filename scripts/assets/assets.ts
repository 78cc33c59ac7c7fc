import type { AssetFiles } from '../../cli/assets/asset-files.ts'
import { app } from '../../src/app.ts'
import { contractsOf } from '../../src/openapi/contract.ts'
import { ANY_WORKER } from '../../src/routes/reference.ts'
import { openApiDocument } from '../openapi/document.ts'
import { fileContracts } from '../openapi/file-contracts.ts'
import { referencePage } from '../reference/page.ts'
import { readReleases } from './beacon-release.ts'
import { buildDashboard, buildReferenceScript } from './dashboard-bundle.ts'
import { headersFile } from './headers-file.ts'

/** Builds the files that browsers load. The same sources, libraries and esbuild give the same files. */
export async function buildAssets(): Promise<AssetFiles> {
  const releases = await readReleases()
  const { script, style } = await buildDashboard()
  const reference = await buildReferenceScript()
  const document = openApiDocument([
    ...app.routes.flatMap(contractsOf),
    ...fileContracts(releases.map(({ version }) => version)),
  ])
  return new Map([
    ['_headers', headersFile()],
    ['beacon.js', releases.at(-1)!.text],
    ...releases.map(({ version, text }) => [`beacon/${version}.js`, text] as const),
    [script.path, script.text],
    [style.path, style.text],
    [reference.path, reference.text],
    ['docs.html', String(await referencePage(document, ANY_WORKER, reference.path))],
    ['openapi.json', JSON.stringify(document)],
  ])
}

/** The module by which the dashboard's pages find their files. */
export async function dashboardModule(): Promise<string> {
  const { script, style } = await buildDashboard()
  return `// Made by \`npm run assets\`. The names contain a hash of the contents.
export const SCRIPT = '/${script.path}'
export const STYLE = '/${style.path}'
`
}
