// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-ZE0QBJ6tFsPV.js'
export const STYLE = '/dashboard/slotted-counter-XQtEXV1___Er.css'
