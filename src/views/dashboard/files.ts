// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/-BpFokrFkqPI.js'
export const STYLE = '/dashboard/bUjeB0Sm83Zk.css'
