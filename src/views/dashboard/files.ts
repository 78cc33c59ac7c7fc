// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-k2gXDyecQZAy.js'
export const STYLE = '/dashboard/slotted-counter-V64-PVcZVy4I.css'
