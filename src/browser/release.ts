import releases from './releases.json' with { type: 'json' }

/** A text of the beacon as it was released. It never changes. */
export interface BeaconRelease {
  /** Three numbers, as in semantic versioning. */
  version: string
  /** For the attribute of that name (Subresource Integrity). */
  integrity: string
  text: string
}

/** All releases, oldest first. `npm run beacon` adds them. */
export const RELEASES: readonly BeaconRelease[] = releases
