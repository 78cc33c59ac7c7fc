// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-_n_9CMZW9h5J.js'
export const STYLE = '/dashboard/slotted-counter--5lm9tUrbTwE.css'
