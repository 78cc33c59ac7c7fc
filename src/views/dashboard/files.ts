// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-Ec6VRX69XuHV.js'
export const STYLE = '/dashboard/slotted-counter-XQtEXV1___Er.css'
