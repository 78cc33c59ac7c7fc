// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-qx5ZjAZmmp81.js'
export const STYLE = '/dashboard/slotted-counter-eX-19FNwKn-i.css'
