import { version } from '../package.json'

/** The version of the product. */
export const VERSION: string = version
