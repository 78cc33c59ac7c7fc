// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-qxJbaZ2k-chS.js'
export const STYLE = '/dashboard/slotted-counter-X1uaB1eP99A8.css'
