// `node scripts/sample-site.ts DATABASE_URL [DAY]`: fills a database with a site to try and to photograph.
import { fillSampleSite } from './fill-sample-site.ts'

export * from './fill-sample-site.ts'

if (import.meta.main) {
  const [databaseUrl, day] = process.argv.slice(2)
  if (databaseUrl === undefined) throw new Error('Usage: node scripts/sample-site.ts DATABASE_URL [DAY]')
  await fillSampleSite(databaseUrl, day === undefined ? new Date() : new Date(`${day}T23:59:59.999Z`))
}
