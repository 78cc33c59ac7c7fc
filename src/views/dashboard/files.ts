// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-LBafCCdNvc8o.js'
export const STYLE = '/dashboard/slotted-counter-ShHzExONbNZa.css'
