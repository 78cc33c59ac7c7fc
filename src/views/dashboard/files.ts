// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-WhL95xjCaDtH.js'
export const STYLE = '/dashboard/slotted-counter-AuGkCQFWYi7z.css'
