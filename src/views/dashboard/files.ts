// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-M1zZqpiRaLiZ.js'
export const STYLE = '/dashboard/slotted-counter-gZ_POGtpy39r.css'
