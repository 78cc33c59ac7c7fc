// `npm run sync`: takes the downloads that GitHub or npm counted.
import { createHash } from 'node:crypto'
import { Argument, InvalidArgumentError, program } from 'commander'
import { MAX_KEY_BYTES } from '../../src/counters/keys/key-address.ts'
import { visibleKey } from '../../src/visible-key.ts'
import { commandName } from '../command-name.ts'
import { isDay } from '../import/cell-values.ts'
import { interruption, stopReason } from '../interruption.ts'
import { endProgress, sayProgress } from '../progress.ts'
import { RefusedError, retried } from '../retried.ts'
import { configuredTypes } from '../worker-client.ts'
import { TOKEN_OPTION, URL_OPTION, workerOf } from '../worker-options.ts'
import { readReleases } from './github-releases.ts'
import { readDownloads } from './npm-downloads.ts'

/** The most readings that POST /v1/readings accepts. */
const MAX_READINGS = 1_000
/** The most refusals that are shown. */
const MAX_SHOWN = 20

/** How many days a run takes from npm. */
const NPM_DAYS = 7

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

program
  .name(commandName('sync'))
  .description(
    'Adds the downloads that GitHub or npm reports. Run it once a day, soon after 00:00 UTC. It is safe to run twice, at the same ' +
      'time, and again after a failure: nothing is added twice.',
  )
  .addArgument(new Argument('<source>', 'where the downloads are counted').choices(['github', 'npm']))
  .argument('<name>', 'OWNER/REPO on GitHub, or a package of npm')
  .addOption(URL_OPTION)
  .addOption(TOKEN_OPTION)
  .option('--type <type>', 'the counter type', 'release')
  .option('--prefix <text>', 'what to put in front of each key', '')
  .option('--day <day>', `of npm: the day, in UTC (default: the last ${NPM_DAYS})`, (day: string) => {
    if (!isDay(day) || day > dayBefore(1)) throw new InvalidArgumentError('It must be a past day, in UTC.')
    return day
  })
  .option('--api <url>', 'another address of the API, such as of GitHub Enterprise (default: GITHUB_API_URL)')
  .addHelpText(
    'after',
    `
github: sets the counter of each file of each release to GitHub's count, under the key TAG/FILE. Downloads since the
  last run are recorded at the time of this run. Counters of deleted files are kept. GITHUB_TOKEN is used if it is set. Set
  readings = true for the type.
npm: adds the downloads of each of the last 7 days to that day, once, under the name of the package.`,
  )
  .parse()

const [source, name] = program.args as ['github' | 'npm', string]
const { type, prefix, day, api, ...options } = program.opts<{
  url: string
  token: string
  type: string
  prefix: string
  day?: string
  api?: string
}>()
const interrupted = interruption()
const { signal } = interrupted
let retries = 0
const onRetry = (message: string) => {
  retries++
  console.error(message)
}
const worker = workerOf(options, interrupted, { onRetry })

/** Reads all releases before anything is sent: a failure of GitHub is never taken for a count. */
async function syncGitHub(): Promise<void> {
  if (!/^[\w.-]+\/[\w.-]+$/.test(name)) throw new RefusedError(`name a repository as OWNER/REPO, not ${name}`)
  const address = (api ?? process.env.GITHUB_API_URL ?? 'https://api.github.com').replace(/\/+$/, '')
  const request = { repository: name, api: address, token: process.env.GITHUB_TOKEN, signal }
  const counts = new Map<string, number>()
  let releases = 0
  for (let page = 1, isLast = false; !isLast; page++) {
    const read = await retried(() => readReleases(request, page), { signal, onRetry })
    releases += read.releases
    // A release that is published meanwhile moves a file to the next page, where it is read again.
    for (const { key, count } of read.files) counts.set(prefix + key, count)
    isLast = read.isLast
    sayProgress(`${releases} releases read`)
  }
  const isTooLong = (key: string) => Buffer.byteLength(key) > MAX_KEY_BYTES
  const keys = [...counts.keys()]
  const readings = keys.filter((key) => !isTooLong(key)).map((key) => ({ type, key, count: counts.get(key) }))
  const refused = keys.filter(isTooLong).map((key) => ({ key, detail: `longer than ${MAX_KEY_BYTES} bytes` }))
  const done = { taken: 0, added: 0 }
  retries = 0
  try {
    for (let at = 0; at < readings.length; at += MAX_READINGS) {
      const body = { readings: readings.slice(at, at + MAX_READINGS) }
      const answer = JSON.parse((await worker.post('/v1/readings', body)).text)
      done.taken += answer.taken
      done.added += answer.added
      refused.push(...answer.refused)
      sayProgress(`${done.taken} of ${readings.length} readings taken`)
    }
  } finally {
    endProgress()
    // An attempt without an answer may have added something.
    const added = `${retries > 0 ? 'at least ' : ''}${done.added} downloads added`
    console.log(`${name}: ${counts.size} files in ${releases} releases, ${done.taken} readings taken, ${added}.`)
  }
  for (const { key, detail } of refused.slice(0, MAX_SHOWN)) console.error(`Not taken: ${visibleKey(key)}: ${detail}`)
  if (refused.length > MAX_SHOWN) console.error(`… and ${refused.length - MAX_SHOWN} more`)
}

async function syncNpm(): Promise<void> {
  if (!/^(@[\w.~-]+\/)?[\w.~-]+$/.test(name)) throw new RefusedError(`${name} is not a valid name of an npm package`)
  const address = (api ?? 'https://api.npmjs.org').replace(/\/+$/, '')
  // npm counts a day some time after it is over, so a run takes those before, too.
  const days = day === undefined ? ([dayBefore(NPM_DAYS), dayBefore(1)] as const) : ([day, day] as const)
  const counted = await retried(() => readDownloads(name, days, { api: address, signal }), { signal, onRetry })
  for (const { day, downloads } of counted) {
    const key = createHash('sha256').update(`npm ${day} ${type} ${prefix}${name}`).digest('hex')
    const body = { counters: [{ type, key: prefix + name, count: downloads, day }] }
    try {
      const { repeated } = await worker.post('/v1/imports', body, key)
      if (!repeated || retries > 0) console.log(`${name}: ${downloads} downloads of ${day} added.`)
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'idempotency_key_reused') throw error
      console.error(`${name}: kept the number added earlier for ${day}. npm now reports ${downloads} downloads.`)
    }
  }
  console.log(`${name}: ${counted.length} days from ${days.join(' to ')} have downloads, and all of them are added.`)
}

try {
  await configuredTypes(worker, type)
  await (source === 'github' ? syncGitHub() : syncNpm())
} catch (error) {
  endProgress()
  const advice = error instanceof RefusedError ? '' : ' Run this again: nothing is added twice.'
  console.error(`${name}: ${stopReason(error, interrupted)}.${advice}`)
  process.exitCode = signal.aborted ? 130 : 1
}
