import assets from './assets.json' with { type: 'json' }

/** A file that the dashboard's pages load. */
export interface Asset {
  /** The path contains the text's hash, so the file may be cached permanently. */
  path: string
  contentType: string
  text: string
}

/** Built from this folder's sources by `npm run dashboard`. */
export const SCRIPT: Asset = assets.script
export const STYLE: Asset = assets.style
