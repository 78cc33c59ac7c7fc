import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Answers } from './answers.ts'

/** The package, or a clone: what it deploys itself is the template. */
const ROOT = dirname(createRequire(import.meta.url).resolve('slotted-counter/package.json'))

/** What package.json of this version says, as far as a Worker that uses it needs it. */
interface OwnPackage {
  version: string
  repository: { url: string }
  devDependencies: Record<'hono' | 'wrangler', string>
}

/** The files of a Worker that mounts the package and nothing else: their texts by path. */
export async function workerFiles(answers: Answers): Promise<Map<string, string>> {
  const [settings, entry, own] = await Promise.all(
    ['wrangler.toml', 'src/index.ts', 'package.json'].map((path) => readFile(join(ROOT, path), 'utf8')),
  )
  const { version, repository, devDependencies } = JSON.parse(own!) as OwnPackage
  const home = repository.url.replace(/^git\+|\.git$/g, '')
  const { hono, wrangler } = devDependencies
  const packageJson = {
    name: answers.name,
    private: true,
    type: 'module',
    scripts: {
      dev: 'slotted-counter dev',
      check: 'slotted-counter check',
      deploy: 'slotted-counter deploy',
    },
    dependencies: { hono: `^${hono}`, 'slotted-counter': `>=${version} <1` },
    // Exactly: it must know the compatibility date.
    devDependencies: { wrangler },
    allowScripts: { esbuild: true, workerd: true },
  }
  return new Map([
    ['wrangler.toml', settingsOf(settings!, answers, `${home}/blob/main/docs/`)],
    ['src/index.ts', replaced(entry!, './slotted-counter.ts', 'slotted-counter')],
    ['package.json', `${JSON.stringify(packageJson, null, 2)}\n`],
    ['.dev.vars', '# For this machine only: what you sign in with under `npm run dev`.\nAPI_TOKEN="local"\n'],
    ['.gitignore', 'node_modules/\n.local/\n.wrangler/\n.dev.vars*\n'],
    ['README.md', readme(answers, home)],
  ])
}

/** The shipped settings with the answers, and with queues: they are left out only because of the deploy button's form. */
function settingsOf(shipped: string, { name, sites, downloads, plan }: Answers, docs: string): string {
  const changes: [from: string | RegExp, to: string][] = [
    [/# Makes src\/generated[\s\S]*?\n\n/, ''],
    ['"dist/public"', '"node_modules/slotted-counter/dist/public"'],
    [/# Variables above the first table.*\n/, ''],
    ['PLAN = "free"', `PLAN = ${JSON.stringify(plan)}`],
    [/SITES = ".*"/, `SITES = ${JSON.stringify(sites)}`],
    [' Under `npm start`, without it, to the demo site.', ''],
    [/# The deploy button's form .*\n/, ''],
  ]
  const tables = ['[[queues.producers]]', '[[queues.producers]]', '[[queues.consumers]]']
  if (downloads !== '') {
    changes.push([/redirect_to = ".*"/, `redirect_to = ${JSON.stringify(downloads)}`])
    tables.push('[vars.COUNTERS.page_view]', '[vars.COUNTERS.download]')
  }
  const named = shipped.replaceAll('slotted-counter', name).replaceAll('docs/', docs)
  return tables.reduce(
    uncommented,
    changes.reduce((text, [from, to]) => replaced(text, from, to), named),
  )
}

/** @throws {Error} if the text lacks what is to be replaced: the template has changed */
function replaced(text: string, from: string | RegExp, to: string): string {
  const changed = text.replace(from, () => to)
  if (changed === text && text.match(from)?.[0] !== to) throw new Error(`The template lacks ${from}.`)
  return changed
}

/** Takes the first table of a name, which is commented out, into use. */
function uncommented(text: string, header: string): string {
  const from = text.indexOf(`\n# ${header}\n`) + 1
  const to = text.indexOf('\n\n', from)
  const table = text.slice(from, to)
  return replaced(text, table, table.replaceAll(/^# /gm, ''))
}

function readme({ name, sites }: Answers, home: string): string {
  return `# ${name}

Counts the pages of ${sites} with [Slotted Counter](${home}#readme). After \`npm install\`:

\`\`\`sh
npm run dev      # counts on this machine, with a real local database
npm run check    # names every mistake in wrangler.toml, with its line
npm run deploy   # deploys to your Cloudflare account, with secrets and tables
\`\`\`

\`wrangler.toml\` has [the settings](${home}/blob/main/docs/configuration.md). \`npm update\` fetches a new version, which
\`API_TOKEN=… npm run deploy\` then deploys, with its tables; the [changelog](${home}/blob/main/CHANGELOG.md) says what else you must do.
`
}
