import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answers } from './answers.ts'
import { packagesBeside, ROOT } from './vendored-package.ts'

/** The documents of the package, as a Worker's own files name them. */
const DOCS = 'node_modules/slotted-counter/docs/'

/**
 * The files of a Worker that mounts the package and nothing else: their texts by path.
 *
 * @param dependency the package, as `vendorPackage` says
 */
export async function workerFiles(answers: Answers, dependency: string): Promise<Map<string, string>> {
  const [settings, entry] = await Promise.all(
    ['wrangler.toml', 'src/index.ts'].map((path) => readFile(join(ROOT, path), 'utf8')),
  )
  const { hono, wrangler, node } = await packagesBeside()
  const packageJson = {
    name: answers.name,
    private: true,
    type: 'module',
    scripts: {
      dev: 'slotted-counter dev',
      check: 'slotted-counter check',
      serve: 'slotted-counter serve',
      deploy: 'slotted-counter deploy',
    },
    dependencies: { hono, 'slotted-counter': dependency },
    // Its own Node.js, as the project has: an older one may be installed.
    devDependencies: { node, wrangler },
    allowScripts: { esbuild: true, node: true, workerd: true },
  }
  return new Map([
    ['wrangler.toml', settingsOf(settings!, answers)],
    ['src/index.ts', replaced(entry!, './slotted-counter.ts', 'slotted-counter')],
    ['package.json', `${JSON.stringify(packageJson, null, 2)}\n`],
    ['.dev.vars', '# For this machine only: the token to sign in with under `npm run dev`.\nAPI_TOKEN="local"\n'],
    ['.gitignore', 'node_modules/\n/data/\n.local/\n.wrangler/\n.dev.vars*\n.env\n'],
    ['README.md', readme(answers)],
  ])
}

/** The shipped settings with the answers, and with queues: they are left out only because of the deploy button's form. */
function settingsOf(shipped: string, { name, sites, downloads, plan }: Answers): string {
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
  const named = shipped.replaceAll('slotted-counter', name).replaceAll('docs/', DOCS)
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

function readme({ name, sites }: Answers): string {
  return `# ${name}

Counts the pages of ${sites} with Slotted Counter. After \`npm install\`:

\`\`\`sh
npm run dev      # counts on this machine, with a real local database
npm run check    # names mistakes in wrangler.toml, with their lines
npm run serve    # counts on this machine for good, behind your web server
npm run deploy   # deploys to your Cloudflare account, with secrets and tables
\`\`\`

To deploy, you need a Cloudflare account (free) and a PlanetScale database (from $39 a month); for \`serve\`, see \`${DOCS}one-machine.md\`.

The settings are in \`wrangler.toml\`; \`${DOCS}configuration.md\` explains them. To upgrade, run \`npm ci && npm run init -- FOLDER\` in a
newer clone of Slotted Counter, with this folder. Then run \`npm install\` and \`API_TOKEN=… npm run deploy\` here, or restart \`serve\`.
The clone's CHANGELOG.md lists any other steps.
`
}
