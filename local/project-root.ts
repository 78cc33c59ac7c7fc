import { resolve } from 'node:path'

/** The root folder of the project. */
export const PROJECT = resolve(import.meta.dirname, '..')
