import assets from './assets.json' with { type: 'json' }

/** A file that the dashboard's pages load. */
export interface Asset {
  /** Where it is served: with its text's hash, so that it may be cached for good. */
  path: string
  contentType: string
  text: string
}

/** What `npm run dashboard` makes of this folder's sources. */
export const SCRIPT: Asset = assets.script
export const STYLE: Asset = assets.style
