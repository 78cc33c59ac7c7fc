import releases from './releases.json' with { type: 'json' }

/** A released version of the beacon. It never changes. */
export interface BeaconRelease {
  /** A semantic version: three numbers. */
  version: string
  /** The value of the `integrity` attribute (Subresource Integrity). */
  integrity: string
  text: string
}

/** All releases, oldest first. `npm run beacon` adds them. */
export const RELEASES: readonly BeaconRelease[] = releases
