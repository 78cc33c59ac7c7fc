import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The program of the wrangler that is installed here. Not through npx: killing npx leaves wrangler, workerd and esbuild behind.
 * @throws {Error} if there is none
 */
export function wranglerProgram(): string {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve('wrangler/package.json'))), 'bin/wrangler.js')
  } catch (error) {
    throw new Error('wrangler is not installed: npm install --save-dev wrangler', { cause: error })
  }
}
