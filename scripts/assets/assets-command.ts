// `npm run assets`: makes the files that browsers load, which Cloudflare serves as static assets.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { program } from 'commander'
import { writeAssets } from '../../cli/assets/asset-files.ts'
import { PROJECT } from '../../local/project-root.ts'
import { buildAssets, dashboardModule } from './assets.ts'
import { buildBeacon, readReleases, releaseBeacon } from './beacon-release.ts'

const { release } = program
  .name('npm run assets --')
  .description('Makes public/: the beacon, the files of the dashboard, openapi.json and the documentation.')
  .option('--release <version>', 'first make a release of the beacon, such as 1.0.1')
  .parse()
  .opts<{ release?: string }>()

try {
  if (release !== undefined) {
    const { integrity, text } = await releaseBeacon(release)
    console.log(`Released ${release}: ${gzipSync(text, { level: 9 }).length} bytes gzipped, ${integrity}`)
    console.log('Add its SHA-256 to test/local/scripts/beacon-release.test.ts.')
  }
  const latest = (await readReleases()).at(-1)
  if (latest?.text !== (await buildBeacon())) {
    program.error(`The beacon has changed since ${latest?.version}. Run: npm run assets -- --release VERSION`)
  }
  const files = await buildAssets()
  await writeAssets(files, join(PROJECT, 'public'))
  await writeFile(join(PROJECT, 'src/views/dashboard/files.ts'), await dashboardModule())
  for (const [path, text] of files) console.log(`${path}: ${Buffer.byteLength(text)} bytes`)
} catch (error) {
  program.error(error instanceof Error ? error.message : String(error))
}
