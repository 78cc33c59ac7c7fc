// `npm run check:account`: refuses to pack and to deploy while package.json does not say where this repository is published.
import packageJson from '../package.json' with { type: 'json' }

if (packageJson.repository.url.includes('/YOUR-')) {
  console.error('package.json: put the account in which this repository is published into repository.url.')
  process.exitCode = 1
}
