import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildBeacon, readReleases, releaseBeacon } from '../../../scripts/assets/beacon-releases.ts'

/** The hashes of all releases, which never change: sites refer to them by hash, and caches keep them for a year. */
const FROZEN = {
  '1.0.0': '03f8319e023c3a452602ab073b442d2944208cc12c3916da20d9073271afd741',
}

const MAX_GZIPPED_BYTES = 1_300

describe('The beacon', () => {
  it('is released with its current source (if not, run `npm run release-beacon -- VERSION`)', async () => {
    expect((await readReleases()).at(-1)?.text).toBe(await buildBeacon())
  })

  it('never changes after a release', async () => {
    const releases = await readReleases()
    const hashes = releases.map(({ version, text }) => [version, createHash('sha256').update(text).digest('hex')])
    expect(Object.fromEntries(hashes)).toEqual(FROZEN)
  })

  it(`is at most ${MAX_GZIPPED_BYTES} bytes gzipped`, async () => {
    expect(gzipSync(await buildBeacon(), { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES)
  })

  it('cannot be released twice under one version, or under an invalid version', async () => {
    await expect(releaseBeacon('1.0.0')).rejects.toThrow('has already been released')
    await expect(releaseBeacon('latest')).rejects.toThrow('three numbers')
  })

  it('uses no cookies and no storage', async () => {
    expect(await buildBeacon()).not.toMatch(/cookie|Storage|indexedDB|caches/)
  })
})
