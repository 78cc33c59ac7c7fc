// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-K3mp8J4GtapI.js'
export const STYLE = '/dashboard/slotted-counter-bs3vVLHIq_F3.css'
