import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { BeaconRelease } from '../src/browser/release.ts'

const BROWSER = resolve(import.meta.dirname, '../src/browser')
const RELEASES = join(BROWSER, 'releases.json')

/** Makes the beacon's text out of its source, the same from the same source and esbuild. */
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
    // Nothing but what this build depends on, and no "use strict", which nothing in the text needs.
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } },
  })
  return outputFiles[0]!.text.trim()
}

/** All releases, oldest first. */
export async function readReleases(): Promise<BeaconRelease[]> {
  return JSON.parse(await readFile(RELEASES, 'utf8')) as BeaconRelease[]
}

/**
 * Adds a release of the source as it is now.
 *
 * @throws {Error} if that version has been released, with whatever text: what was released is frozen
 */
export async function releaseBeacon(version: string): Promise<BeaconRelease> {
  const releases = await readReleases()
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('A version is three numbers, such as 1.0.1.')
  if (releases.some((release) => release.version === version)) throw new Error(`${version} has been released.`)
  const text = await buildBeacon()
  const integrity = `sha384-${createHash('sha384').update(text).digest('base64')}`
  const release = { version, integrity, text }
  await writeFile(RELEASES, `${JSON.stringify([...releases, release], null, 2)}\n`)
  return release
}
