/** The version of the product, as in package.json: a test compares the two. Imported from there, it would bring along the whole file. */
export const VERSION = '0.2.0'
