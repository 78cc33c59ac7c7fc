import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { BeaconRelease } from '../src/browser/beacon/releases.ts'

const BROWSER = resolve(import.meta.dirname, '../src/browser/beacon')
const RELEASES = join(BROWSER, 'releases.json')

/** Builds the text of the beacon. The same source and the same esbuild give the same text. */
export async function buildBeacon(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(BROWSER, 'beacon.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
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
  return JSON.parse(await readFile(RELEASES, 'utf8')) as BeaconRelease[]
}

/**
 * Releases the current source.
 *
 * @throws {Error} if this version was released before: a release never changes
 */
export async function releaseBeacon(version: string): Promise<BeaconRelease> {
  const releases = await readReleases()
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('A version is three numbers, such as 1.0.1.')
  if (releases.some((release) => release.version === version)) throw new Error(`${version} has been released already.`)
  const text = await buildBeacon()
  const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`
  const release = { version, integrity, text }
  await writeFile(RELEASES, `${JSON.stringify([...releases, release], null, 2)}\n`)
  return release
}
