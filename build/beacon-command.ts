// `npm run beacon`: checks whether the latest release of the beacon is up to date, or makes a new one.
import { gzipSync } from 'node:zlib'
import { program } from 'commander'
import { buildBeacon, readReleases, releaseBeacon } from './beacon-release.ts'

program
  .name('npm run beacon --')
  .description(
    'Checks whether the latest release matches src/browser/beacon/beacon.ts. With a version, makes a new release.',
  )
  .argument('[version]', 'version to release, such as 1.0.1')
  .parse()

const [version] = program.args
try {
  if (version !== undefined) {
    const { integrity, text } = await releaseBeacon(version)
    console.log(`Released ${version}: ${gzipSync(text, { level: 9 }).length} bytes gzipped, ${integrity}`)
    console.log('Add its SHA-256 to test/local/build/beacon-release.test.ts.')
  } else {
    const latest = (await readReleases()).at(-1)
    if (latest?.text !== (await buildBeacon())) {
      program.error(`The source has changed since release ${latest?.version ?? 'zero'}. Run: npm run beacon -- VERSION`)
    }
    console.log(`${latest.version} is up to date: ${latest.integrity}`)
  }
} catch (error) {
  program.error(error instanceof Error ? error.message : String(error))
}
