// `npm run beacon`: tells whether the latest release of the beacon is up to date, and makes another one.
import { gzipSync } from 'node:zlib'
import { program } from 'commander'
import { buildBeacon, readReleases, releaseBeacon } from './beacon-build.ts'

program
  .name('npm run beacon --')
  .description('Tells whether the latest release is what src/browser/beacon.ts makes; with a version, releases that.')
  .argument('[version]', 'version to release, such as 1.0.1: what was released never changes')
  .parse()

const [version] = program.args
try {
  if (version !== undefined) {
    const { integrity, text } = await releaseBeacon(version)
    console.log(`Released ${version}: ${gzipSync(text, { level: 9 }).length} bytes gzipped, ${integrity}`)
    console.log('Add its SHA-256 to test/local/beacon-build.test.ts.')
  } else {
    const latest = (await readReleases()).at(-1)
    if (latest?.text !== (await buildBeacon())) {
      program.error(`The source has changed since ${latest?.version ?? 'the beginning'}: npm run beacon -- VERSION`)
    }
    console.log(`${latest.version} is up to date: ${latest.integrity}`)
  }
} catch (error) {
  program.error(error instanceof Error ? error.message : String(error))
}
