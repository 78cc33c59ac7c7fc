// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-HqjSatAdqmaw.js'
export const STYLE = '/dashboard/slotted-counter-32jxDidErypg.css'
