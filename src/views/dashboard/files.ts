// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-W2-3GBV6ycad.js'
export const STYLE = '/dashboard/slotted-counter-h0CWhbB685s6.css'
