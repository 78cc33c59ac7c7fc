/** The version of the product: that of package.json, which has more than the bundle needs. */
export const VERSION = '0.2.0'
