// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/elpHMVQQ2mcx.js'
export const STYLE = '/dashboard/bUjeB0Sm83Zk.css'
