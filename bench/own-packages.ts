import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What to do about the packages of bench/package.json; `null`: they are installed. The Worker does not need them. */
export const MISSING_PACKAGES = existsSync(join(import.meta.dirname, 'node_modules/vega'))
  ? null
  : 'The benchmarks have packages of their own. Install them with: npm ci --prefix bench'
