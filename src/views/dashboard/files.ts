// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-odTLt7aIO8_q.js'
export const STYLE = '/dashboard/slotted-counter-LdubFkiDFJvo.css'
