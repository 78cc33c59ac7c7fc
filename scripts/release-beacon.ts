// `npm run release-beacon -- VERSION`: makes a release of the beacon.
import { gzipSync } from 'node:zlib'
import { program } from 'commander'
import { releaseBeacon } from './assets/beacon-releases.ts'

const {
  args: [version = ''],
} = program
  .name('npm run release-beacon --')
  .description('Releases the source of the beacon as it is. A release never changes.')
  .argument('<version>', 'three numbers, such as 1.0.1')
  .parse()

try {
  const { integrity, text } = await releaseBeacon(version)
  console.log(`Released ${version}: ${gzipSync(text, { level: 9 }).length} bytes gzipped, ${integrity}`)
  console.log('Add its SHA-256 to test/local/scripts/beacon-releases.test.ts.')
} catch (error) {
  program.error(error instanceof Error ? error.message : String(error))
}
