// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-f8fxN9zyaUpK.js'
export const STYLE = '/dashboard/slotted-counter--5lm9tUrbTwE.css'
