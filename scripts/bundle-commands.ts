// `npm run build:package`, second part: bundles the commands with the packages that only they need, so that an application which
// installs the package does not install those.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROJECT } from '../local/project-root.ts'

const outdir = join(PROJECT, 'dist/package/cli')
const { dependencies, peerDependencies } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))

await rm(outdir, { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: {
    'slotted-counter': join(PROJECT, 'cli/slotted-counter.ts'),
    // A process of its own, beside each server that `slotted-counter dev` starts.
    'stop-with-parent': join(PROJECT, 'local/processes/stop-with-parent.ts'),
  },
  absWorkingDir: PROJECT,
  outdir,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.13',
  // The demo site is shown in a clone only.
  external: ['./demo-site.ts', ...Object.keys({ ...dependencies, ...peerDependencies })],
  // Packages in CommonJS call it.
  banner: { js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)" },
  metafile: true,
})

// What npm links. An old Node.js cannot read the rest: it says so, as in a clone, which also runs TypeScript.
const check = await readFile(join(PROJECT, 'local/node-version.cjs'), 'utf8')
const ofPackage = check.replace('minor < 18', 'minor < 13').replace(/^\/\/.*\n/gm, '')
const bin = `#!/usr/bin/env node\n${ofPackage}import('./slotted-counter.js')\n`
await writeFile(join(outdir, 'slotted-counter.cjs'), bin, { mode: 0o755 })

const packages = Object.keys(metafile.inputs).flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])
const licenses = [...new Set(packages)].sort().map(async (path) => {
  const [name] = (await readdir(join(PROJECT, path))).filter((file) => /^licen[cs]e/i.test(file))
  if (name === undefined) throw new Error(`${path} has no license`)
  return `${path.slice('node_modules/'.length)}\n\n${await readFile(join(PROJECT, path, name), 'utf8')}`
})
await writeFile(join(outdir, 'LICENSES'), (await Promise.all(licenses)).join('\n\n'))
