import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program of the wrangler that is installed here. Not through npx: killing npx leaves wrangler, workerd and esbuild behind. */
export const WRANGLER = join(dirname(fileURLToPath(import.meta.resolve('wrangler/package.json'))), 'bin/wrangler.js')
