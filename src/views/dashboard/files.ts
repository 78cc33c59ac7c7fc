// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-9vZjLbxzp_V6.js'
export const STYLE = '/dashboard/slotted-counter-V64-PVcZVy4I.css'
