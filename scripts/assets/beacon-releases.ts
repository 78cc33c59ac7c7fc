import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROJECT } from '../../local/project-root.ts'

/** The releases: one file for each version, which is served as it is. */
const RELEASES = join(PROJECT, 'src/browser/beacon/releases')

/** A released version of the beacon. It never changes. */
export interface BeaconRelease {
  /** A semantic version: three numbers. */
  version: string
  /** The value of the `integrity` attribute (Subresource Integrity). */
  integrity: string
  text: string
}

/** Builds the text of the beacon. The same source and the same esbuild give the same text. */
export async function buildBeacon(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(PROJECT, 'src/browser/beacon/beacon.ts')],
    bundle: true,
    minify: true,
    // Not as a function around it: all names are in a block.
    format: 'esm',
    // Browsers since 2020.
    target: 'es2021',
    charset: 'ascii',
    write: false,
    // Fixed here, so that no tsconfig.json changes the text. Nothing in it needs "use strict".
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } },
  })
  return outputFiles[0]!.text.trim()
}

/** Reads all releases, the oldest first. */
export async function readReleases(): Promise<BeaconRelease[]> {
  const versions = (await readdir(RELEASES)).map((name) => name.replace(/\.js$/, ''))
  versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return Promise.all(
    versions.map(async (version) => release(version, await readFile(join(RELEASES, `${version}.js`), 'utf8'))),
  )
}

/**
 * Releases the current source.
 *
 * @throws {Error} if this version was released before: a release never changes
 */
export async function releaseBeacon(version: string): Promise<BeaconRelease> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('A version is three numbers, such as 1.0.1.')
  const releases = await readReleases()
  if (releases.some((release) => release.version === version)) throw new Error(`${version} has already been released.`)
  const text = await buildBeacon()
  await writeFile(join(RELEASES, `${version}.js`), text)
  return release(version, text)
}

function release(version: string, text: string): BeaconRelease {
  return { version, integrity: `sha384-${createHash('sha384').update(text).digest('base64')}`, text }
}
