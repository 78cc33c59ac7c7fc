import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * The program of the wrangler that is installed here. Not through npx: killing npx leaves wrangler, workerd and esbuild behind.
 * @throws {Error} if there is none
 */
export function wranglerProgram(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin/wrangler.js')
  } catch (error) {
    throw new Error('wrangler is not installed: npm install --save-dev wrangler', { cause: error })
  }
}
