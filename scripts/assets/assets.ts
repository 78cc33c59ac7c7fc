import type { AssetFiles } from '../../cli/assets/asset-files.ts'
import { ANY_WORKER } from '../../src/routes/reference.ts'
import { contracts } from '../openapi/contracts.ts'
import { openApiDocument } from '../openapi/document.ts'
import { fileContracts } from '../openapi/file-contracts.ts'
import { referencePage } from '../reference/page.ts'
import { readReleases } from './beacon-releases.ts'
import { buildReferenceScript, type DashboardFile } from './dashboard-bundle.ts'
import { headersFile } from './headers-file.ts'

/** Builds the files that browsers load, with those of the dashboard. */
export async function buildAssets(dashboard: DashboardFile[]): Promise<AssetFiles> {
  const releases = await readReleases()
  const reference = await buildReferenceScript()
  const document = openApiDocument([...contracts(), ...fileContracts(releases.map(({ version }) => version))])
  return new Map([
    ['_headers', headersFile()],
    ['slotted.js', releases.at(-1)!.text],
    ...releases.map(({ version, text }) => [`slotted-${version}.js`, text] as const),
    ...[...dashboard, reference].map(({ path, text }) => [path, text] as const),
    ['docs.html', String(await referencePage(document, ANY_WORKER, reference.path))],
    ['openapi.json', JSON.stringify(document)],
  ])
}
