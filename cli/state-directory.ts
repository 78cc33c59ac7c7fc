import { resolve } from 'node:path'

/** The folder in which `npm start` keeps its database and everything else: STATE_DIR, by default `.local`. */
export const STATE_DIRECTORY = resolve(process.env.STATE_DIR || '.local')
